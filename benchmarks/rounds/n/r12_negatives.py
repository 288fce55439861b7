NAME = 'Trains a matrix-factorisation recommender with BPR loss on implicit feedback and reports recall@20.'
FAULT = 'For every single training pair the data set builds the complete set of unseen items (setdiff1d over the catalogue) only to draw one negative from it.'
CURE = "Draw a random item and redraw while it lies in the user's set of seen items."
KIND = 'time'
FAULT_LINES = ['unseen = np.setdiff1d(self.catalogue, self.seen[u])', 'neg = rng.choice(unseen)', 'for u, i, j in loader:']
FAULT_CALLS = ['setdiff1d', '__getitem__', 'getitem', 'unique', 'in1d', 'isin', 'choice']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
rng = np.random.default_rng(99)
torch.manual_seed(99)

# -------- synthetic implicit feedback --------
n_users, n_items, k_true = 700, 1300, 8
U = rng.normal(size=(n_users, k_true)); I = rng.normal(size=(n_items, k_true))
rows = []
for u in range(n_users):
    score = I @ U[u] + rng.gumbel(size=n_items) * 2.0
    liked = np.argpartition(-score, 24)[:24]
    rows += [(u, i) for i in liked]
df = pd.DataFrame(rows, columns=['user', 'item']).sample(frac=1, random_state=0)
df['rank'] = df.groupby('user').cumcount()
train_df, test_df = df[df['rank'] >= 4], df[df['rank'] < 4]
known_u, known_i = (torch.tensor(train_df[c].tolist()) for c in ('user', 'item'))
print(len(train_df), 'train pairs,', len(test_df), 'test pairs')


class BPRPairs(Dataset):
    def __init__(self, frame, n_items):
        self.users = frame.user.to_numpy()
        self.items = frame['item'].to_numpy()
        self.catalogue = np.arange(n_items)
        self.seen = frame.groupby('user')['item'].apply(np.array).to_dict()

    def __len__(self):
        return len(self.users)

    def __getitem__(self, k):
        u = self.users[k]
        unseen = np.setdiff1d(self.catalogue, self.seen[u])
        neg = rng.choice(unseen)
        return u, self.items[k], neg


class MF(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.user = nn.Embedding(n_users, d)
        self.item = nn.Embedding(n_items, d)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=.1)
        nn.init.normal_(self.item.weight, std=.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(1) + self.bias(i).squeeze(1)


@torch.no_grad()
def recall_at(model, k=20):
    scores = model.user.weight @ model.item.weight.T + model.bias.weight.T
    scores[known_u, known_i] = -torch.inf
    top = scores.topk(k, dim=1).indices.numpy()
    hits = (top[test_df.user.to_numpy()] == test_df['item'].to_numpy()[:, None]).any(1)
    return hits.mean()


loader = DataLoader(BPRPairs(train_df, n_items), batch_size=256, shuffle=True)
model = MF()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    total = 0.
    for u, i, j in loader:
        diff = model(u, i) - model(u, j)
        reg = model.user(u).pow(2).sum() + model.item(i).pow(2).sum() + model.item(j).pow(2).sum()
        loss = F.softplus(-diff).mean() + 1e-4 * reg / len(u)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        total += loss.item() * len(u)
    print(f'epoch {epoch + 1}: bpr loss {total / len(train_df):.4f}, recall@20 {recall_at(model):.4f}')
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
rng = np.random.default_rng(99)
torch.manual_seed(99)

# -------- synthetic implicit feedback --------
n_users, n_items, k_true = 700, 1300, 8
U = rng.normal(size=(n_users, k_true)); I = rng.normal(size=(n_items, k_true))
rows = []
for u in range(n_users):
    score = I @ U[u] + rng.gumbel(size=n_items) * 2.0
    liked = np.argpartition(-score, 24)[:24]
    rows += [(u, i) for i in liked]
df = pd.DataFrame(rows, columns=['user', 'item']).sample(frac=1, random_state=0)
df['rank'] = df.groupby('user').cumcount()
train_df, test_df = df[df['rank'] >= 4], df[df['rank'] < 4]
known_u, known_i = (torch.tensor(train_df[c].tolist()) for c in ('user', 'item'))
print(len(train_df), 'train pairs,', len(test_df), 'test pairs')


class BPRPairs(Dataset):
    def __init__(self, frame, n_items):
        self.users = frame.user.to_numpy()
        self.items = frame['item'].to_numpy()
        self.n_items = n_items
        self.seen = frame.groupby('user')['item'].apply(set).to_dict()

    def __len__(self):
        return len(self.users)

    def __getitem__(self, k):
        u = self.users[k]
        neg = rng.integers(self.n_items)
        while neg in self.seen[u]:
            neg = rng.integers(self.n_items)
        return u, self.items[k], neg


class MF(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.user = nn.Embedding(n_users, d)
        self.item = nn.Embedding(n_items, d)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=.1)
        nn.init.normal_(self.item.weight, std=.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(1) + self.bias(i).squeeze(1)


@torch.no_grad()
def recall_at(model, k=20):
    scores = model.user.weight @ model.item.weight.T + model.bias.weight.T
    scores[known_u, known_i] = -torch.inf
    top = scores.topk(k, dim=1).indices.numpy()
    hits = (top[test_df.user.to_numpy()] == test_df['item'].to_numpy()[:, None]).any(1)
    return hits.mean()


loader = DataLoader(BPRPairs(train_df, n_items), batch_size=256, shuffle=True)
model = MF()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    total = 0.
    for u, i, j in loader:
        diff = model(u, i) - model(u, j)
        reg = model.user(u).pow(2).sum() + model.item(i).pow(2).sum() + model.item(j).pow(2).sum()
        loss = F.softplus(-diff).mean() + 1e-4 * reg / len(u)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        total += loss.item() * len(u)
    print(f'epoch {epoch + 1}: bpr loss {total / len(train_df):.4f}, recall@20 {recall_at(model):.4f}')
"""
