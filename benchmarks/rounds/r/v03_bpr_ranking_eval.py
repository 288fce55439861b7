NAME = 'Trains a matrix factorisation recommender with BPR and evaluates recall@20 after every epoch with already-seen items masked out.'
FAULT = 'Seen items are masked one at a time with a scalar assignment into the score tensor, hundreds of thousands of tiny tensor operations per evaluation.'
CURE = 'Mask all seen items of a user with one indexed assignment.'
KIND = 'time'
FAULT_LINES = ['for item in seen[u]:', 'scores[row, item] = float("-inf")']
FAULT_CALLS = ['recall_at_k', '__setitem__', 'fill_', 'select', 'float']

FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rs = np.random.RandomState(3)

N_USERS, N_ITEMS, DIM, K = 3000, 4000, 48, 20

taste = rs.randn(N_USERS, 6)
flavour = rs.randn(N_ITEMS, 6)
seen, held_out = [], []
for u in range(N_USERS):
    affinity = flavour @ taste[u] + rs.gumbel(size=N_ITEMS) * 1.5
    picks = np.argpartition(-affinity, 110)[:110]
    rs.shuffle(picks)
    seen.append(picks[:100].tolist())
    held_out.append(set(picks[100:].tolist()))

pairs = torch.tensor([(u, i) for u in range(N_USERS) for i in seen[u]])


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, pos, neg):
        eu = self.user(u)
        return (eu * (self.item(pos) - self.item(neg))).sum(1)


@torch.no_grad()
def recall_at_k(model, chunk=500):
    recalls = []
    for start in range(0, N_USERS, chunk):
        users = range(start, min(start + chunk, N_USERS))
        scores = model.user.weight[start:users.stop] @ model.item.weight.T
        for row, u in enumerate(users):
            for item in seen[u]:
                scores[row, item] = float("-inf")
        top = scores.topk(K, dim=1).indices.tolist()
        for row, u in enumerate(users):
            recalls.append(len(held_out[u].intersection(top[row])) / len(held_out[u]))
    return float(np.mean(recalls))


model = BPR()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
batch = 2048

print(f"before training: recall@{K} = {recall_at_k(model):.4f}")
for epoch in range(7):
    order = torch.randperm(len(pairs))
    total, steps = 0.0, 0
    for s in range(0, len(order), batch):
        u, pos = pairs[order[s:s + batch]].T
        neg = torch.randint(0, N_ITEMS, pos.shape)
        loss = F.softplus(-model(u, pos, neg)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    r = recall_at_k(model)
    print(f"epoch {epoch}: bpr loss {total / steps:.4f}, recall@{K} = {r:.4f}")
'''

CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rs = np.random.RandomState(3)

N_USERS, N_ITEMS, DIM, K = 3000, 4000, 48, 20

taste = rs.randn(N_USERS, 6)
flavour = rs.randn(N_ITEMS, 6)
seen, held_out = [], []
for u in range(N_USERS):
    affinity = flavour @ taste[u] + rs.gumbel(size=N_ITEMS) * 1.5
    picks = np.argpartition(-affinity, 110)[:110]
    rs.shuffle(picks)
    seen.append(picks[:100].tolist())
    held_out.append(set(picks[100:].tolist()))

pairs = torch.tensor([(u, i) for u in range(N_USERS) for i in seen[u]])


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, pos, neg):
        eu = self.user(u)
        return (eu * (self.item(pos) - self.item(neg))).sum(1)


@torch.no_grad()
def recall_at_k(model, chunk=500):
    recalls = []
    for start in range(0, N_USERS, chunk):
        users = range(start, min(start + chunk, N_USERS))
        scores = model.user.weight[start:users.stop] @ model.item.weight.T
        for row, u in enumerate(users):
            scores[row, seen[u]] = float("-inf")
        top = scores.topk(K, dim=1).indices.tolist()
        for row, u in enumerate(users):
            recalls.append(len(held_out[u].intersection(top[row])) / len(held_out[u]))
    return float(np.mean(recalls))


model = BPR()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
batch = 2048

print(f"before training: recall@{K} = {recall_at_k(model):.4f}")
for epoch in range(7):
    order = torch.randperm(len(pairs))
    total, steps = 0.0, 0
    for s in range(0, len(order), batch):
        u, pos = pairs[order[s:s + batch]].T
        neg = torch.randint(0, N_ITEMS, pos.shape)
        loss = F.softplus(-model(u, pos, neg)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    r = recall_at_k(model)
    print(f"epoch {epoch}: bpr loss {total / steps:.4f}, recall@{K} = {r:.4f}")
'''
