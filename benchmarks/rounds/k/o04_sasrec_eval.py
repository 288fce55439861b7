NAME = 'Trains a sequential recommender and ranks the whole catalogue for the next item of each user.'
FAULT = 'The evaluation scores the whole catalogue at every position of the history although only the last position is ranked.'
CURE = 'Take the last position of the hidden states before the product with the item table.'
KIND = 'time'
FAULT_LINES = ['return h @ self.items.weight.T', 'scores = model(seq)[:, -1]']
FAULT_CALLS = ['forward', 'matmul', 'evaluate', 'mm', '__matmul__']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)
N_ITEMS, MAXLEN, DIM = 8000, 64, 64


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(B, T, D))
        return x + self.ff(self.n2(x))


class SASRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(N_ITEMS, DIM)
        self.pos = nn.Parameter(torch.zeros(MAXLEN, DIM))
        self.blocks = nn.Sequential(Block(DIM), Block(DIM))
        self.norm = nn.LayerNorm(DIM)
        nn.init.normal_(self.items.weight, std=0.02)

    def forward(self, seq):
        h = self.norm(self.blocks(self.items(seq) + self.pos[: seq.shape[1]]))
        return h @ self.items.weight.T


def next_item_loss(model, seq, k=64):
    h = model.norm(model.blocks(model.items(seq[:, :-1]) + model.pos[: seq.shape[1] - 1]))
    pos = (h * model.items(seq[:, 1:])).sum(-1)
    neg = h @ model.items(torch.randint(0, N_ITEMS, (k,))).T
    return nn.functional.softplus(-pos).mean() + nn.functional.softplus(neg).mean()


@torch.no_grad()
def evaluate(model, histories, targets, batch=32, ks=(10, 50)):
    model.eval()
    hit, mrr = {k: 0 for k in ks}, 0.0
    for s in range(0, len(histories), batch):
        seq, tgt = histories[s:s + batch], targets[s:s + batch]
        scores = model(seq)[:, -1]
        own = scores.gather(1, tgt[:, None])
        rank = (scores > own).sum(1) + 1
        mrr += (1.0 / rank).sum().item()
        for k in ks:
            hit[k] += (rank <= k).sum().item()
    return mrr / len(histories), {k: v / len(histories) for k, v in hit.items()}


start = torch.randint(0, N_ITEMS, (6000, 1))
hops = torch.randint(1, 4, (6000, MAXLEN)).cumsum(1)
walks = torch.cat([start, (start + hops) % N_ITEMS], 1)
model = SASRec()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    model.train()
    for rows in torch.randperm(800).split(50):
        loss = next_item_loss(model, walks[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
for name, part in {"valid": walks[800:3400], "test": walks[3400:]}.items():
    mrr, hits = evaluate(model, part[:, :MAXLEN], part[:, MAXLEN])
    print(name, f"mrr {mrr:.4f}", {k: round(v, 3) for k, v in hits.items()})
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)
N_ITEMS, MAXLEN, DIM = 8000, 64, 64


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(B, T, D))
        return x + self.ff(self.n2(x))


class SASRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(N_ITEMS, DIM)
        self.pos = nn.Parameter(torch.zeros(MAXLEN, DIM))
        self.blocks = nn.Sequential(Block(DIM), Block(DIM))
        self.norm = nn.LayerNorm(DIM)
        nn.init.normal_(self.items.weight, std=0.02)

    def forward(self, seq):
        h = self.norm(self.blocks(self.items(seq) + self.pos[: seq.shape[1]]))
        return h[:, -1] @ self.items.weight.T


def next_item_loss(model, seq, k=64):
    h = model.norm(model.blocks(model.items(seq[:, :-1]) + model.pos[: seq.shape[1] - 1]))
    pos = (h * model.items(seq[:, 1:])).sum(-1)
    neg = h @ model.items(torch.randint(0, N_ITEMS, (k,))).T
    return nn.functional.softplus(-pos).mean() + nn.functional.softplus(neg).mean()


@torch.no_grad()
def evaluate(model, histories, targets, batch=32, ks=(10, 50)):
    model.eval()
    hit, mrr = {k: 0 for k in ks}, 0.0
    for s in range(0, len(histories), batch):
        seq, tgt = histories[s:s + batch], targets[s:s + batch]
        scores = model(seq)
        own = scores.gather(1, tgt[:, None])
        rank = (scores > own).sum(1) + 1
        mrr += (1.0 / rank).sum().item()
        for k in ks:
            hit[k] += (rank <= k).sum().item()
    return mrr / len(histories), {k: v / len(histories) for k, v in hit.items()}


start = torch.randint(0, N_ITEMS, (6000, 1))
hops = torch.randint(1, 4, (6000, MAXLEN)).cumsum(1)
walks = torch.cat([start, (start + hops) % N_ITEMS], 1)
model = SASRec()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    model.train()
    for rows in torch.randperm(800).split(50):
        loss = next_item_loss(model, walks[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
for name, part in {"valid": walks[800:3400], "test": walks[3400:]}.items():
    mrr, hits = evaluate(model, part[:, :MAXLEN], part[:, MAXLEN])
    print(name, f"mrr {mrr:.4f}", {k: round(v, 3) for k, v in hits.items()})
"""
