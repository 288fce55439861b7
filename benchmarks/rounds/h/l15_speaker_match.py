NAME = 'Trains two towers with InfoNCE to match recordings and evaluates recall@k and MRR each epoch.'
FAULT = 'The evaluation fully sorts every row of the similarity matrix to use the best 20 of it.'
CURE = 'Use sim.topk(max(ks), dim=1).indices.'
KIND = 'time'
FAULT_LINES = [
    'ranking = torch.argsort(sim, dim=1, descending=True)[:, :max(ks)]',
    'scores = evaluate(*towers)',
]
FAULT_CALLS = ['argsort', 'torch.argsort', 'evaluate', 'aten::argsort', 'aten::sort']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(99)

# speaker verification-like embeddings: match two recordings of the same person
N_PEOPLE, N_GALLERY = 3200, 3200
D_IN, D_EMB = 96, 64
EPOCHS = 11

identity = torch.randn(N_PEOPLE, 24)
lift_a = torch.randn(24, D_IN)
lift_b = torch.randn(24, D_IN)


def view(ids, lift):
    return torch.tanh(identity[ids] @ lift / 4) + 0.6 * torch.randn(len(ids), D_IN)


everyone = torch.arange(N_PEOPLE)
query_x = view(everyone, lift_a)
gallery_x = view(everyone, lift_b)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(D_IN, 256), nn.LayerNorm(256), nn.GELU(),
            nn.Linear(256, 256), nn.GELU(), nn.Linear(256, D_EMB))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


def info_nce(a, b, temperature):
    logits = a @ b.T / temperature
    labels = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))


@torch.no_grad()
def evaluate(tower_a, tower_b, ks=(1, 5, 20)):
    tower_a.eval(), tower_b.eval()
    q, g = tower_a(query_x), tower_b(gallery_x)
    sim = q @ g.T
    ranking = torch.argsort(sim, dim=1, descending=True)[:, :max(ks)]
    hit = ranking == everyone.unsqueeze(1)
    recall = {k: hit[:, :k].any(dim=1).float().mean().item() for k in ks}
    pos = torch.arange(1, max(ks) + 1)
    recall['mrr'] = (hit.float() / pos).sum(1).mean().item()
    tower_a.train(), tower_b.train()
    return recall


towers = Tower(), Tower()
params = [p for t in towers for p in t.parameters()]
log_temp = nn.Parameter(torch.tensor(-2.0))
opt = torch.optim.AdamW([{'params': params}, {'params': [log_temp], 'lr': 1e-3}], lr=1e-3)

best, stale = None, 0
for epoch in range(EPOCHS):
    total = 0.0
    for _ in range(12):
        ids = torch.randint(0, N_PEOPLE, (256,)).unique()
        a = towers[0](view(ids, lift_a))
        b = towers[1](view(ids, lift_b))
        loss = info_nce(a, b, log_temp.exp())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    scores = evaluate(*towers)
    if best is None or scores['mrr'] > best['mrr']:
        best, stale = scores, 0
    else:
        stale += 1
    print(f'epoch {epoch} loss {total / 12:.3f} ' +
          ' '.join(f'R@{k} {v:.3f}' if k != 'mrr' else f'MRR {v:.3f}' for k, v in scores.items()))
print('best MRR', round(best['mrr'], 4))
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(99)

# speaker verification-like embeddings: match two recordings of the same person
N_PEOPLE, N_GALLERY = 3200, 3200
D_IN, D_EMB = 96, 64
EPOCHS = 11

identity = torch.randn(N_PEOPLE, 24)
lift_a = torch.randn(24, D_IN)
lift_b = torch.randn(24, D_IN)


def view(ids, lift):
    return torch.tanh(identity[ids] @ lift / 4) + 0.6 * torch.randn(len(ids), D_IN)


everyone = torch.arange(N_PEOPLE)
query_x = view(everyone, lift_a)
gallery_x = view(everyone, lift_b)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(D_IN, 256), nn.LayerNorm(256), nn.GELU(),
            nn.Linear(256, 256), nn.GELU(), nn.Linear(256, D_EMB))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


def info_nce(a, b, temperature):
    logits = a @ b.T / temperature
    labels = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))


@torch.no_grad()
def evaluate(tower_a, tower_b, ks=(1, 5, 20)):
    tower_a.eval(), tower_b.eval()
    q, g = tower_a(query_x), tower_b(gallery_x)
    sim = q @ g.T
    ranking = sim.topk(max(ks), dim=1).indices
    hit = ranking == everyone.unsqueeze(1)
    recall = {k: hit[:, :k].any(dim=1).float().mean().item() for k in ks}
    pos = torch.arange(1, max(ks) + 1)
    recall['mrr'] = (hit.float() / pos).sum(1).mean().item()
    tower_a.train(), tower_b.train()
    return recall


towers = Tower(), Tower()
params = [p for t in towers for p in t.parameters()]
log_temp = nn.Parameter(torch.tensor(-2.0))
opt = torch.optim.AdamW([{'params': params}, {'params': [log_temp], 'lr': 1e-3}], lr=1e-3)

best, stale = None, 0
for epoch in range(EPOCHS):
    total = 0.0
    for _ in range(12):
        ids = torch.randint(0, N_PEOPLE, (256,)).unique()
        a = towers[0](view(ids, lift_a))
        b = towers[1](view(ids, lift_b))
        loss = info_nce(a, b, log_temp.exp())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    scores = evaluate(*towers)
    if best is None or scores['mrr'] > best['mrr']:
        best, stale = scores, 0
    else:
        stale += 1
    print(f'epoch {epoch} loss {total / 12:.3f} ' +
          ' '.join(f'R@{k} {v:.3f}' if k != 'mrr' else f'MRR {v:.3f}' for k, v in scores.items()))
print('best MRR', round(best['mrr'], 4))
"""
