NAME = 'Trains a BPR matrix-factorisation recommender with popularity-sampled negatives.'
FAULT = 'Negatives are drawn item by item with rng.choice(n_items, p=...), which processes the whole probability vector at each call.'
CURE = 'Draw the negatives of an epoch with one rng.choice(..., size=(n, K)) call in new_epoch.'
KIND = 'time'
FAULT_LINES = [
    'neg = rng.choice(n_items, size=K_NEG, p=neg_prob)',
    'return self.user[j], self.item[j], neg',
    'for u, pos, neg in loader:',
]
FAULT_CALLS = ['rng.choice', 'choice', '__getitem__', 'ClickDataset.__getitem__', 'numpy.random.Generator.choice', '__next__', 'fetch']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

n_users, n_items, n_clicks = 1500, 12000, 24000
K_NEG, DIM, EPOCHS = 4, 32, 4

# ---------- click log ----------
taste = rng.normal(size=(n_users, 4))
style = rng.normal(size=(n_items, 4))
item_pop = 1.0 / (1 + np.arange(n_items)) ** 0.7
rows = []
cand_pop = item_pop / item_pop.sum()
cands = rng.choice(n_items, size=(n_clicks, 20), p=cand_pop)
users = rng.integers(0, n_users, n_clicks)
aff = np.einsum('nd,nkd->nk', taste[users], style[cands])
clicked = cands[np.arange(n_clicks), aff.argmax(1)]
log = pd.DataFrame({'user': users, 'item': clicked}).drop_duplicates()
log = log.sample(frac=1.0, random_state=0).reset_index(drop=True)

test = log.groupby('user').tail(1)
train = log.drop(test.index).reset_index(drop=True)

# word2vec-like smoothing of the popularity
freq = train['item'].value_counts().reindex(range(n_items), fill_value=0).to_numpy()
neg_prob = (freq + 0.1) ** 0.75
neg_prob /= neg_prob.sum()


class ClickDataset(Dataset):
    def __init__(self, frame):
        self.user = frame['user'].to_numpy()
        self.item = frame['item'].to_numpy()
        self.new_epoch()

    def new_epoch(self):
        self.order = rng.permutation(len(self.user))

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        j = self.order[i]
        neg = rng.choice(n_items, size=K_NEG, p=neg_prob)
        return self.user[j], self.item[j], neg


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.u = nn.Embedding(n_users, DIM)
        self.i = nn.Embedding(n_items, DIM)
        self.b = nn.Embedding(n_items, 1)
        nn.init.normal_(self.u.weight, std=0.1)
        nn.init.normal_(self.i.weight, std=0.1)
        nn.init.zeros_(self.b.weight)

    def score(self, u, i):
        return (self.u(u).unsqueeze(1) * self.i(i)).sum(-1) + self.b(i).squeeze(-1)

    def forward(self, u, pos, neg):
        return F.softplus(self.score(u, neg) - self.score(u, pos.unsqueeze(1))).mean()


dataset = ClickDataset(train)
loader = DataLoader(dataset, batch_size=512)
model = BPR()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


@torch.no_grad()
def hit_rate(k=200):
    u = torch.tensor(test['user'].to_numpy())
    truth = torch.tensor(test['item'].to_numpy())
    hits = 0
    for ub, tb in zip(u.split(256), truth.split(256)):
        scores = model.u(ub) @ model.i.weight.T + model.b.weight.T
        hits += (scores.topk(k, dim=1).indices == tb[:, None]).any(1).sum().item()
    return hits / len(u)


for epoch in range(EPOCHS):
    total, n = 0.0, 0
    for u, pos, neg in loader:
        loss = model(u, pos, neg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(u)
        n += len(u)
    dataset.new_epoch()
    print(f'epoch {epoch}: bpr {total / n:.4f}  hit@200 {hit_rate():.3f}')
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

n_users, n_items, n_clicks = 1500, 12000, 24000
K_NEG, DIM, EPOCHS = 4, 32, 4

# ---------- click log ----------
taste = rng.normal(size=(n_users, 4))
style = rng.normal(size=(n_items, 4))
item_pop = 1.0 / (1 + np.arange(n_items)) ** 0.7
rows = []
cand_pop = item_pop / item_pop.sum()
cands = rng.choice(n_items, size=(n_clicks, 20), p=cand_pop)
users = rng.integers(0, n_users, n_clicks)
aff = np.einsum('nd,nkd->nk', taste[users], style[cands])
clicked = cands[np.arange(n_clicks), aff.argmax(1)]
log = pd.DataFrame({'user': users, 'item': clicked}).drop_duplicates()
log = log.sample(frac=1.0, random_state=0).reset_index(drop=True)

test = log.groupby('user').tail(1)
train = log.drop(test.index).reset_index(drop=True)

# word2vec-like smoothing of the popularity
freq = train['item'].value_counts().reindex(range(n_items), fill_value=0).to_numpy()
neg_prob = (freq + 0.1) ** 0.75
neg_prob /= neg_prob.sum()


class ClickDataset(Dataset):
    def __init__(self, frame):
        self.user = frame['user'].to_numpy()
        self.item = frame['item'].to_numpy()
        self.new_epoch()

    def new_epoch(self):
        self.order = rng.permutation(len(self.user))
        self.neg = rng.choice(n_items, size=(len(self.user), K_NEG), p=neg_prob)

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        j = self.order[i]
        return self.user[j], self.item[j], self.neg[i]


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.u = nn.Embedding(n_users, DIM)
        self.i = nn.Embedding(n_items, DIM)
        self.b = nn.Embedding(n_items, 1)
        nn.init.normal_(self.u.weight, std=0.1)
        nn.init.normal_(self.i.weight, std=0.1)
        nn.init.zeros_(self.b.weight)

    def score(self, u, i):
        return (self.u(u).unsqueeze(1) * self.i(i)).sum(-1) + self.b(i).squeeze(-1)

    def forward(self, u, pos, neg):
        return F.softplus(self.score(u, neg) - self.score(u, pos.unsqueeze(1))).mean()


dataset = ClickDataset(train)
loader = DataLoader(dataset, batch_size=512)
model = BPR()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


@torch.no_grad()
def hit_rate(k=200):
    u = torch.tensor(test['user'].to_numpy())
    truth = torch.tensor(test['item'].to_numpy())
    hits = 0
    for ub, tb in zip(u.split(256), truth.split(256)):
        scores = model.u(ub) @ model.i.weight.T + model.b.weight.T
        hits += (scores.topk(k, dim=1).indices == tb[:, None]).any(1).sum().item()
    return hits / len(u)


for epoch in range(EPOCHS):
    total, n = 0.0, 0
    for u, pos, neg in loader:
        loss = model(u, pos, neg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(u)
        n += len(u)
    dataset.new_epoch()
    print(f'epoch {epoch}: bpr {total / n:.4f}  hit@200 {hit_rate():.3f}')
"""
