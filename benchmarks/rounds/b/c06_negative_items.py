NAME = 'implicit-feedback recommender with popularity negatives'
FAULT = 'the negatives are drawn by one Generator.choice(p=...) call per positive, each rebuilding the 6000-entry cumulative table'
CURE = 'draw the negatives of the whole batch in one choice call'
KIND = 'time'
FAULT_LINES = ['neg = draw_negatives(len(idx))', 'negs = [rng.choice(N_ITEMS, size=NEG, p=pop) for _ in range(n)]']
FAULT_CALLS = ['choice', 'Generator.choice', 'draw_negatives']
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
rng = np.random.default_rng(1)
N_USERS, N_ITEMS, N_POS, BATCH, NEG = 1500, 6000, 48_000, 256, 4
pop = 1.0 / np.arange(1, N_ITEMS + 1) ** 0.75
pop /= pop.sum()
users = rng.integers(0, N_USERS, N_POS)
items = rng.choice(N_ITEMS, size=N_POS, p=pop)

class TwoTower(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim, sparse=True)
        self.item = nn.Embedding(N_ITEMS, dim, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, u, i):
        return (self.mlp(self.user(u)).unsqueeze(1) * self.item(i)).sum(-1)

def draw_negatives(n):
    negs = [rng.choice(N_ITEMS, size=NEG, p=pop) for _ in range(n)]
    return torch.from_numpy(np.stack(negs))

model = TwoTower()
opt = torch.optim.SGD(model.parameters(), lr=0.3)
order = rng.permutation(N_POS)
running = 0.0
for step, start in enumerate(range(0, N_POS, BATCH)):
    idx = order[start:start + BATCH]
    u = torch.from_numpy(users[idx])
    pos = torch.from_numpy(items[idx]).unsqueeze(1)
    neg = draw_negatives(len(idx))
    scores = model(u, torch.cat([pos, neg], dim=1))
    loss = F.cross_entropy(scores, torch.zeros(len(idx), dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    running = 0.98 * running + 0.02 * loss.item()
print("steps", step + 1, "smoothed loss", round(running / (1 - 0.98 ** (step + 1)), 4))
'''
CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
rng = np.random.default_rng(1)
N_USERS, N_ITEMS, N_POS, BATCH, NEG = 1500, 6000, 48_000, 256, 4
pop = 1.0 / np.arange(1, N_ITEMS + 1) ** 0.75
pop /= pop.sum()
users = rng.integers(0, N_USERS, N_POS)
items = rng.choice(N_ITEMS, size=N_POS, p=pop)

class TwoTower(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim, sparse=True)
        self.item = nn.Embedding(N_ITEMS, dim, sparse=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, u, i):
        return (self.mlp(self.user(u)).unsqueeze(1) * self.item(i)).sum(-1)

def draw_negatives(n):
    negs = rng.choice(N_ITEMS, size=(n, NEG), p=pop)
    return torch.from_numpy(negs)

model = TwoTower()
opt = torch.optim.SGD(model.parameters(), lr=0.3)
order = rng.permutation(N_POS)
running = 0.0
for step, start in enumerate(range(0, N_POS, BATCH)):
    idx = order[start:start + BATCH]
    u = torch.from_numpy(users[idx])
    pos = torch.from_numpy(items[idx]).unsqueeze(1)
    neg = draw_negatives(len(idx))
    scores = model(u, torch.cat([pos, neg], dim=1))
    loss = F.cross_entropy(scores, torch.zeros(len(idx), dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    running = 0.98 * running + 0.02 * loss.item()
print("steps", step + 1, "smoothed loss", round(running / (1 - 0.98 ** (step + 1)), 4))
'''
