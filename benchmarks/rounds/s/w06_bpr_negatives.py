NAME = 'Trains matrix factorisation with the BPR loss on implicit feedback, with rejection sampling of negatives.'
FAULT = 'The items of each user are kept in a list, so that each membership test of the rejection sampling scans it.'
CURE = 'Keep the items of each user in a set.'
KIND = 'time'
FAULT_LINES = [
    'seen = train.groupby("user")["item"].apply(list).to_dict()',
    'while j in history:',
    'negatives = sample_negatives(batch_users)',
]
FAULT_CALLS = ['sample_negatives', 'in', '__contains__', 'list']

FAULTY = r'''import random
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
rng = np.random.default_rng(0)

N_USERS, N_ITEMS, PER_USER = 240, 8000, 1000
DIM, BATCH, EPOCHS = 32, 1024, 3

user_taste = rng.standard_normal((N_USERS, 6))
item_style = rng.standard_normal((N_ITEMS, 6))
rows = []
for u in range(N_USERS):
    affinity = item_style @ user_taste[u] + 0.8 * rng.gumbel(size=N_ITEMS)
    liked = np.argpartition(-affinity, PER_USER)[:PER_USER]
    rows.append(pd.DataFrame({"user": u, "item": rng.permutation(liked)}))
clicks = pd.concat(rows, ignore_index=True)
clicks["rank"] = clicks.groupby("user").cumcount()
test = clicks[clicks["rank"] < 50]
train = clicks[clicks["rank"] >= 50]
print(f"{len(train)} training clicks, {len(test)} held out")

seen = train.groupby("user")["item"].apply(list).to_dict()
users = torch.from_numpy(train["user"].to_numpy(copy=True))
items = torch.from_numpy(train["item"].to_numpy(copy=True))


def sample_negatives(batch_users):
    drawn = []
    for u in batch_users.tolist():
        history = seen[u]
        j = random.randrange(N_ITEMS)
        while j in history:
            j = random.randrange(N_ITEMS)
        drawn.append(j)
    return torch.tensor(drawn)


class MatrixFactorization(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.user = torch.nn.Embedding(N_USERS, DIM)
        self.item = torch.nn.Embedding(N_ITEMS, DIM)
        torch.nn.init.normal_(self.user.weight, std=0.1)
        torch.nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(dim=1)


model = MatrixFactorization()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(len(users)).split(BATCH):
        batch_users = users[idx]
        negatives = sample_negatives(batch_users)
        margin = model(batch_users, items[idx]) - model(batch_users, negatives)
        loss = -F.logsigmoid(margin).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} bpr loss {total / len(users):.4f}")

with torch.no_grad():
    scores = model.user.weight @ model.item.weight.T
    scores[users, items] = -float("inf")
    top = scores.topk(50, dim=1).indices
relevant = torch.zeros(N_USERS, N_ITEMS, dtype=torch.bool)
relevant[torch.from_numpy(test["user"].to_numpy(copy=True)), torch.from_numpy(test["item"].to_numpy(copy=True))] = True
recall = relevant.gather(1, top).sum(1).float().mean().item() / 50
print(f"recall@50 {recall:.3f}")
'''

CURED = r'''import random
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
rng = np.random.default_rng(0)

N_USERS, N_ITEMS, PER_USER = 240, 8000, 1000
DIM, BATCH, EPOCHS = 32, 1024, 3

user_taste = rng.standard_normal((N_USERS, 6))
item_style = rng.standard_normal((N_ITEMS, 6))
rows = []
for u in range(N_USERS):
    affinity = item_style @ user_taste[u] + 0.8 * rng.gumbel(size=N_ITEMS)
    liked = np.argpartition(-affinity, PER_USER)[:PER_USER]
    rows.append(pd.DataFrame({"user": u, "item": rng.permutation(liked)}))
clicks = pd.concat(rows, ignore_index=True)
clicks["rank"] = clicks.groupby("user").cumcount()
test = clicks[clicks["rank"] < 50]
train = clicks[clicks["rank"] >= 50]
print(f"{len(train)} training clicks, {len(test)} held out")

seen = train.groupby("user")["item"].apply(set).to_dict()
users = torch.from_numpy(train["user"].to_numpy(copy=True))
items = torch.from_numpy(train["item"].to_numpy(copy=True))


def sample_negatives(batch_users):
    drawn = []
    for u in batch_users.tolist():
        history = seen[u]
        j = random.randrange(N_ITEMS)
        while j in history:
            j = random.randrange(N_ITEMS)
        drawn.append(j)
    return torch.tensor(drawn)


class MatrixFactorization(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.user = torch.nn.Embedding(N_USERS, DIM)
        self.item = torch.nn.Embedding(N_ITEMS, DIM)
        torch.nn.init.normal_(self.user.weight, std=0.1)
        torch.nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(dim=1)


model = MatrixFactorization()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(len(users)).split(BATCH):
        batch_users = users[idx]
        negatives = sample_negatives(batch_users)
        margin = model(batch_users, items[idx]) - model(batch_users, negatives)
        loss = -F.logsigmoid(margin).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} bpr loss {total / len(users):.4f}")

with torch.no_grad():
    scores = model.user.weight @ model.item.weight.T
    scores[users, items] = -float("inf")
    top = scores.topk(50, dim=1).indices
relevant = torch.zeros(N_USERS, N_ITEMS, dtype=torch.bool)
relevant[torch.from_numpy(test["user"].to_numpy(copy=True)), torch.from_numpy(test["item"].to_numpy(copy=True))] = True
recall = relevant.gather(1, top).sum(1).float().mean().item() / 50
print(f"recall@50 {recall:.3f}")
'''
