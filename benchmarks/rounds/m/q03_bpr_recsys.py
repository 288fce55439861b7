NAME = 'Trains a matrix factorisation recommender with the BPR loss and popularity-weighted negative items.'

FAULT = 'Each negative item is drawn by its own rng.choice call with p=, which checks and accumulates the whole popularity vector every time.'

CURE = 'Draw all negatives of a batch with one call (size=len(idx)); the random stream is the same.'

KIND = 'time'

FAULT_LINES = ['neg = np.array([rng.choice(n_items, p=p_neg) for _ in range(len(idx))])']

FAULT_CALLS = ['numpy.random.Generator.choice', 'bpr_batches']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

N_USERS, N_ITEMS, N_EVENTS = 1500, 4000, 30_000
DIM, BATCH, EPOCHS = 32, 500, 4


def simulate_feedback(seed):
    rng = np.random.default_rng(seed)
    u_lat = rng.standard_normal((N_USERS, 4))
    i_lat = rng.standard_normal((N_ITEMS, 4))
    base = -1.1 * np.log(np.arange(1, N_ITEMS + 1))
    users, items = [], []
    per_user = N_EVENTS // N_USERS
    for u in range(N_USERS):
        score = base + 1.2 * (i_lat @ u_lat[u]) + rng.gumbel(size=N_ITEMS)
        top = np.argpartition(-score, per_user)[:per_user]
        users.append(np.full(per_user, u))
        items.append(top)
    return np.concatenate(users), np.concatenate(items)


def bpr_batches(users, items, p_neg, rng):
    n_items = len(p_neg)
    order = rng.permutation(len(users))
    for start in range(0, len(order), BATCH):
        idx = order[start:start + BATCH]
        neg = np.array([rng.choice(n_items, p=p_neg) for _ in range(len(idx))])
        yield (torch.from_numpy(users[idx]), torch.from_numpy(items[idx]),
               torch.from_numpy(neg))


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.bias = nn.Embedding(N_ITEMS, 1)
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)


users, items = simulate_feedback(0)
rng = np.random.default_rng(1)
shuffle = rng.permutation(len(users))
held, train = shuffle[:3000], shuffle[3000:]
counts = np.bincount(items[train], minlength=N_ITEMS) + 1.0
p_neg = counts ** 0.75
p_neg /= p_neg.sum()

model = MF()
opt = torch.optim.Adagrad(model.parameters(), lr=0.08)
for epoch in range(EPOCHS):
    running, n = 0.0, 0
    for u, pos, neg in bpr_batches(users[train], items[train], p_neg, rng):
        opt.zero_grad()
        loss = -F.logsigmoid(model(u, pos) - model(u, neg)).mean()
        loss.backward()
        opt.step()
        running += loss.item()
        n += 1
    print(f"epoch {epoch}: bpr loss {running / n:.4f}")

with torch.no_grad():
    hu, hi = torch.from_numpy(users[held]), torch.from_numpy(items[held])
    scores = model.user(hu) @ model.item.weight.T + model.bias.weight.T
    rank = (scores > scores.gather(1, hi[:, None])).sum(1)
    print(f"held-out: recall@50 {(rank < 50).float().mean():.4f}  median rank {rank.median().item()}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

N_USERS, N_ITEMS, N_EVENTS = 1500, 4000, 30_000
DIM, BATCH, EPOCHS = 32, 500, 4


def simulate_feedback(seed):
    rng = np.random.default_rng(seed)
    u_lat = rng.standard_normal((N_USERS, 4))
    i_lat = rng.standard_normal((N_ITEMS, 4))
    base = -1.1 * np.log(np.arange(1, N_ITEMS + 1))
    users, items = [], []
    per_user = N_EVENTS // N_USERS
    for u in range(N_USERS):
        score = base + 1.2 * (i_lat @ u_lat[u]) + rng.gumbel(size=N_ITEMS)
        top = np.argpartition(-score, per_user)[:per_user]
        users.append(np.full(per_user, u))
        items.append(top)
    return np.concatenate(users), np.concatenate(items)


def bpr_batches(users, items, p_neg, rng):
    n_items = len(p_neg)
    order = rng.permutation(len(users))
    for start in range(0, len(order), BATCH):
        idx = order[start:start + BATCH]
        neg = rng.choice(n_items, size=len(idx), p=p_neg)
        yield (torch.from_numpy(users[idx]), torch.from_numpy(items[idx]),
               torch.from_numpy(neg))


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.bias = nn.Embedding(N_ITEMS, 1)
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)


users, items = simulate_feedback(0)
rng = np.random.default_rng(1)
shuffle = rng.permutation(len(users))
held, train = shuffle[:3000], shuffle[3000:]
counts = np.bincount(items[train], minlength=N_ITEMS) + 1.0
p_neg = counts ** 0.75
p_neg /= p_neg.sum()

model = MF()
opt = torch.optim.Adagrad(model.parameters(), lr=0.08)
for epoch in range(EPOCHS):
    running, n = 0.0, 0
    for u, pos, neg in bpr_batches(users[train], items[train], p_neg, rng):
        opt.zero_grad()
        loss = -F.logsigmoid(model(u, pos) - model(u, neg)).mean()
        loss.backward()
        opt.step()
        running += loss.item()
        n += 1
    print(f"epoch {epoch}: bpr loss {running / n:.4f}")

with torch.no_grad():
    hu, hi = torch.from_numpy(users[held]), torch.from_numpy(items[held])
    scores = model.user(hu) @ model.item.weight.T + model.bias.weight.T
    rank = (scores > scores.gather(1, hi[:, None])).sum(1)
    print(f"held-out: recall@50 {(rank < 50).float().mean():.4f}  median rank {rank.median().item()}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 6.79 s (6.74, 6.83), cured 2.77 s (2.73, 2.82); share gained (faulty - cured) / faulty = 59%. Peak RSS 476 MB / 476 MB. Printed results identical.'
