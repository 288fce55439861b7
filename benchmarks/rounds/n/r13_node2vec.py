NAME = 'Learns node embeddings of a large synthetic community graph from random walks (DeepWalk with negative sampling) and checks them with logistic regression.'
FAULT = 'The embedding tables give dense gradients, so plain SGD zeroes, fills and applies gradients of the full tables for a few thousand touched rows per step.'
CURE = 'Create the embeddings with sparse=True; plain SGD then touches only the rows of the batch.'
KIND = 'time'
FAULT_LINES = ['self.center = nn.Embedding(n, d)', 'self.context = nn.Embedding(n, d)', 'loss.backward()', 'opt.step()']
FAULT_CALLS = ['Embedding', 'embedding', 'backward', 'embedding_dense_backward', 'step', 'zero_', 'zeros', 'add_', 'zero_grad']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(31)

# ---- graph: 80k nodes, 8 communities, 10 out-neighbours each ----------
N, C, DEG = 80_000, 8, 10
community = torch.randint(0, C, (N,))
by_comm = [torch.nonzero(community == c).squeeze(1) for c in range(C)]
neigh = torch.randint(0, N, (N, DEG))
for c in range(C):
    own = by_comm[c]
    inside = own[torch.randint(0, len(own), (len(own), DEG))]
    neigh[own] = torch.where(torch.rand(len(own), DEG) < 0.9, inside, neigh[own])
hubs = torch.stack([own[:50] for own in by_comm])      # visited most of the time
pick = hubs[community[:, None].expand(N, DEG), torch.randint(0, 50, (N, DEG))]
neigh = torch.where(torch.rand(N, DEG) < 0.6, pick, neigh)
print('graph', tuple(neigh.shape), 'community sizes', torch.bincount(community).tolist())


def walks(n, length=8):
    cur = torch.randint(0, N, (n,))
    path = [cur]
    for _ in range(length - 1):
        cur = neigh[cur, torch.randint(0, DEG, (n,))]
        path.append(cur)
    return torch.stack(path, 1)


def pairs(path, window=3):
    a, b = [], []
    for off in range(1, window + 1):
        a += [path[:, :-off], path[:, off:]]
        b += [path[:, off:], path[:, :-off]]
    return torch.cat([x.reshape(-1) for x in a]), torch.cat([x.reshape(-1) for x in b])


class SkipGram(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.center = nn.Embedding(n, d)
        self.context = nn.Embedding(n, d)
        nn.init.normal_(self.center.weight, std=0.1)
        nn.init.zeros_(self.context.weight)

    def forward(self, u, v, neg):
        cu = self.center(u)
        pos = (cu * self.context(v)).sum(1)
        bad = torch.einsum('bd,bkd->bk', cu, self.context(neg))
        return -(F.logsigmoid(pos) + F.logsigmoid(-bad).sum(1)).sum()


model = SkipGram(N, 64)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
curve = []
for step in range(240):
    u, v = pairs(walks(16))
    neg = torch.randint(0, N, (len(u), 4))
    loss = model(u, v, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(loss.item() / len(u))
    if step % 60 == 59:
        print(f'step {step + 1}: loss per pair {np.mean(curve[-60:]):.4f}')

# probe: can a linear model read the community from the hub embeddings?
hubs = hubs.flatten()[torch.randperm(hubs.numel())]
emb = model.center.weight.detach()[hubs].numpy()
lab = community[hubs].numpy()
clf = LogisticRegression(max_iter=200).fit(emb[:300], lab[:300])
print('probe accuracy', clf.score(emb[300:], lab[300:]))
plt.plot(curve); plt.xlabel('step'); plt.ylabel('loss'); plt.show()
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(31)

# ---- graph: 80k nodes, 8 communities, 10 out-neighbours each ----------
N, C, DEG = 80_000, 8, 10
community = torch.randint(0, C, (N,))
by_comm = [torch.nonzero(community == c).squeeze(1) for c in range(C)]
neigh = torch.randint(0, N, (N, DEG))
for c in range(C):
    own = by_comm[c]
    inside = own[torch.randint(0, len(own), (len(own), DEG))]
    neigh[own] = torch.where(torch.rand(len(own), DEG) < 0.9, inside, neigh[own])
hubs = torch.stack([own[:50] for own in by_comm])      # visited most of the time
pick = hubs[community[:, None].expand(N, DEG), torch.randint(0, 50, (N, DEG))]
neigh = torch.where(torch.rand(N, DEG) < 0.6, pick, neigh)
print('graph', tuple(neigh.shape), 'community sizes', torch.bincount(community).tolist())


def walks(n, length=8):
    cur = torch.randint(0, N, (n,))
    path = [cur]
    for _ in range(length - 1):
        cur = neigh[cur, torch.randint(0, DEG, (n,))]
        path.append(cur)
    return torch.stack(path, 1)


def pairs(path, window=3):
    a, b = [], []
    for off in range(1, window + 1):
        a += [path[:, :-off], path[:, off:]]
        b += [path[:, off:], path[:, :-off]]
    return torch.cat([x.reshape(-1) for x in a]), torch.cat([x.reshape(-1) for x in b])


class SkipGram(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.center = nn.Embedding(n, d, sparse=True)
        self.context = nn.Embedding(n, d, sparse=True)
        nn.init.normal_(self.center.weight, std=0.1)
        nn.init.zeros_(self.context.weight)

    def forward(self, u, v, neg):
        cu = self.center(u)
        pos = (cu * self.context(v)).sum(1)
        bad = torch.einsum('bd,bkd->bk', cu, self.context(neg))
        return -(F.logsigmoid(pos) + F.logsigmoid(-bad).sum(1)).sum()


model = SkipGram(N, 64)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
curve = []
for step in range(240):
    u, v = pairs(walks(16))
    neg = torch.randint(0, N, (len(u), 4))
    loss = model(u, v, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(loss.item() / len(u))
    if step % 60 == 59:
        print(f'step {step + 1}: loss per pair {np.mean(curve[-60:]):.4f}')

# probe: can a linear model read the community from the hub embeddings?
hubs = hubs.flatten()[torch.randperm(hubs.numel())]
emb = model.center.weight.detach()[hubs].numpy()
lab = community[hubs].numpy()
clf = LogisticRegression(max_iter=200).fit(emb[:300], lab[:300])
print('probe accuracy', clf.score(emb[300:], lab[300:]))
plt.plot(curve); plt.xlabel('step'); plt.ylabel('loss'); plt.show()
"""
