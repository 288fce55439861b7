NAME = 'h18_ad_clicks_eval'
FAULT = 'The evaluation computes the AUC over everything collected so far inside the batch loop; only the last value is used, so the concatenation and sort are repeated for each batch.'
CURE = 'Collect scores in the loop and compute the AUC once after it.'
KIND = 'time'
FAULT_LINES = [
    '            auc = roc_auc_score(np.concatenate(ys), np.concatenate(ps))',
]
FAULT_CALLS = ['roc_auc_score', 'sklearn.metrics.roc_auc_score', 'np.concatenate', 'numpy.argsort', 'numpy.concatenate']
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(55)
rng = np.random.default_rng(55)

# display ads: 8 categorical fields, 6 numeric ones
CARDS = [1000, 400, 300, 60, 40, 24, 12, 7]
N = 115000

def make_log(n):
    cats = np.stack([np.minimum((rng.pareto(1.2, n) * c / 12).astype(np.int64), c - 1) for c in CARDS], 1)
    nums = rng.normal(size=(n, 6)).astype(np.float32)
    logit = -2.2 + 0.5 * nums[:, 0] - 0.4 * nums[:, 1] * nums[:, 2]
    for j, c in enumerate(CARDS):
        effect = np.random.default_rng(j).normal(0, 0.45, c)
        logit += effect[cats[:, j]]
    click = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return torch.from_numpy(cats), torch.from_numpy(nums), torch.from_numpy(click)

cats, nums, click = make_log(N)
cut = 30000
train_ids, valid_ids = torch.arange(cut), torch.arange(cut, N)

def batches(ids, shuffle=False, size=512):
    if shuffle:
        ids = ids[torch.randperm(len(ids))]
    for sel in ids.split(size):
        yield cats[sel], nums[sel], click[sel]

class DeepFM(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.register_buffer('offset', torch.tensor([0] + CARDS[:-1]).cumsum(0))
        self.emb = nn.Embedding(sum(CARDS), dim)
        self.bias = nn.Embedding(sum(CARDS), 1)
        nn.init.normal_(self.emb.weight, std=0.02)
        nn.init.zeros_(self.bias.weight)
        self.mlp = nn.Sequential(nn.Linear(len(CARDS) * dim + 6, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, c, n):
        ids = c + self.offset
        e = self.emb(ids)
        fm = 0.5 * (e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
        deep = self.mlp(torch.cat([e.flatten(1), n], 1)).squeeze(1)
        return self.bias(ids).sum((1, 2)) + fm + deep

def evaluate(model, ids):
    model.eval()
    ys, ps, total = [], [], 0.0
    with torch.no_grad():
        for c, n, y in batches(ids):
            logit = model(c, n)
            total += F.binary_cross_entropy_with_logits(logit, y, reduction='sum').item()
            ys.append(y.numpy())
            ps.append(torch.sigmoid(logit).numpy())
            auc = roc_auc_score(np.concatenate(ys), np.concatenate(ps))
    return total / len(ids), auc

model = DeepFM()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(3):
    model.train()
    running = 0.0
    for c, n, y in batches(train_ids, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(model(c, n), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    val_loss, val_auc = evaluate(model, valid_ids)
    print(f"epoch {epoch}: train {running / cut:.4f}  valid {val_loss:.4f}  auc {val_auc:.4f}")
'''
CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(55)
rng = np.random.default_rng(55)

# display ads: 8 categorical fields, 6 numeric ones
CARDS = [1000, 400, 300, 60, 40, 24, 12, 7]
N = 115000

def make_log(n):
    cats = np.stack([np.minimum((rng.pareto(1.2, n) * c / 12).astype(np.int64), c - 1) for c in CARDS], 1)
    nums = rng.normal(size=(n, 6)).astype(np.float32)
    logit = -2.2 + 0.5 * nums[:, 0] - 0.4 * nums[:, 1] * nums[:, 2]
    for j, c in enumerate(CARDS):
        effect = np.random.default_rng(j).normal(0, 0.45, c)
        logit += effect[cats[:, j]]
    click = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return torch.from_numpy(cats), torch.from_numpy(nums), torch.from_numpy(click)

cats, nums, click = make_log(N)
cut = 30000
train_ids, valid_ids = torch.arange(cut), torch.arange(cut, N)

def batches(ids, shuffle=False, size=512):
    if shuffle:
        ids = ids[torch.randperm(len(ids))]
    for sel in ids.split(size):
        yield cats[sel], nums[sel], click[sel]

class DeepFM(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.register_buffer('offset', torch.tensor([0] + CARDS[:-1]).cumsum(0))
        self.emb = nn.Embedding(sum(CARDS), dim)
        self.bias = nn.Embedding(sum(CARDS), 1)
        nn.init.normal_(self.emb.weight, std=0.02)
        nn.init.zeros_(self.bias.weight)
        self.mlp = nn.Sequential(nn.Linear(len(CARDS) * dim + 6, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, c, n):
        ids = c + self.offset
        e = self.emb(ids)
        fm = 0.5 * (e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1)
        deep = self.mlp(torch.cat([e.flatten(1), n], 1)).squeeze(1)
        return self.bias(ids).sum((1, 2)) + fm + deep

def evaluate(model, ids):
    model.eval()
    ys, ps, total = [], [], 0.0
    with torch.no_grad():
        for c, n, y in batches(ids):
            logit = model(c, n)
            total += F.binary_cross_entropy_with_logits(logit, y, reduction='sum').item()
            ys.append(y.numpy())
            ps.append(torch.sigmoid(logit).numpy())
    auc = roc_auc_score(np.concatenate(ys), np.concatenate(ps))
    return total / len(ids), auc

model = DeepFM()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(3):
    model.train()
    running = 0.0
    for c, n, y in batches(train_ids, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(model(c, n), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    val_loss, val_auc = evaluate(model, valid_ids)
    print(f"epoch {epoch}: train {running / cut:.4f}  valid {val_loss:.4f}  auc {val_auc:.4f}")
'''
