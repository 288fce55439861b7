NAME = 'Trains a tiny causal transformer and reports validation loss by position in the sequence.'
FAULT = 'The evaluation runs with gradients on and keeps the per-token losses of all batches, which keeps the graph and the activations of each of them.'
CURE = 'Decorate the evaluation with torch.no_grad().'
KIND = 'memory'
FAULT_LINES = [
    'losses.append(token_loss(model(chunk[:, :-1]), chunk[:, 1:]))',
    'def loss_by_position(model, chunks):',
    'by_position = loss_by_position(model, valid)',
]
FAULT_CALLS = ['loss_by_position', 'append', 'forward', 'cross_entropy', 'linear']

FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

VOCAB, CONTEXT, DIM, HEADS, LAYERS = 400, 64, 96, 4, 2


def markov_text(n_tokens):
    nexts = torch.randint(0, VOCAB, (VOCAB, 5))
    pick = torch.multinomial(torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05]), n_tokens, replacement=True)
    jump = (torch.rand(n_tokens) < 0.05).tolist()
    fresh = torch.randint(0, VOCAB, (n_tokens,)).tolist()
    table, tokens = nexts.tolist(), [0]
    for p, j, f in zip(pick.tolist(), jump, fresh):
        tokens.append(f if j else table[tokens[-1]][p])
    return torch.tensor(tokens)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, d // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(CONTEXT, DIM)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def token_loss(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


def loss_by_position(model, chunks):
    model.eval()
    losses = []
    for chunk in chunks.split(32):
        losses.append(token_loss(model(chunk[:, :-1]), chunk[:, 1:]))
    return torch.cat(losses).mean(dim=0)


tokens = markov_text(110_000)
cut = len(tokens) * 3 // 5
valid = tokens[cut:].unfold(0, CONTEXT + 1, CONTEXT)
train = tokens[:cut]
print(len(train), "training tokens,", len(valid), "validation windows")

model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
offsets = torch.arange(CONTEXT + 1)
for step in range(1, 161):
    model.train()
    begin = torch.randint(0, len(train) - CONTEXT - 1, (16, 1))
    chunk = train[begin + offsets]
    loss = token_loss(model(chunk[:, :-1]), chunk[:, 1:]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        by_position = loss_by_position(model, valid)
        print(
            f"step {step}: train {loss.item():.3f} valid {by_position.mean().item():.3f} "
            f"first {by_position[:4].mean().item():.3f} last {by_position[-4:].mean().item():.3f}"
        )
'''

CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

VOCAB, CONTEXT, DIM, HEADS, LAYERS = 400, 64, 96, 4, 2


def markov_text(n_tokens):
    nexts = torch.randint(0, VOCAB, (VOCAB, 5))
    pick = torch.multinomial(torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05]), n_tokens, replacement=True)
    jump = (torch.rand(n_tokens) < 0.05).tolist()
    fresh = torch.randint(0, VOCAB, (n_tokens,)).tolist()
    table, tokens = nexts.tolist(), [0]
    for p, j, f in zip(pick.tolist(), jump, fresh):
        tokens.append(f if j else table[tokens[-1]][p])
    return torch.tensor(tokens)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, d // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(CONTEXT, DIM)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def token_loss(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


@torch.no_grad()
def loss_by_position(model, chunks):
    model.eval()
    losses = []
    for chunk in chunks.split(32):
        losses.append(token_loss(model(chunk[:, :-1]), chunk[:, 1:]))
    return torch.cat(losses).mean(dim=0)


tokens = markov_text(110_000)
cut = len(tokens) * 3 // 5
valid = tokens[cut:].unfold(0, CONTEXT + 1, CONTEXT)
train = tokens[:cut]
print(len(train), "training tokens,", len(valid), "validation windows")

model = TinyGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
offsets = torch.arange(CONTEXT + 1)
for step in range(1, 161):
    model.train()
    begin = torch.randint(0, len(train) - CONTEXT - 1, (16, 1))
    chunk = train[begin + offsets]
    loss = token_loss(model(chunk[:, :-1]), chunk[:, 1:]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        by_position = loss_by_position(model, valid)
        print(
            f"step {step}: train {loss.item():.3f} valid {by_position.mean().item():.3f} "
            f"first {by_position[:4].mean().item():.3f} last {by_position[-4:].mean().item():.3f}"
        )
'''
