NAME = 'Trains a two-tower recommender with in-batch negatives and reports recall and NDCG over the full catalogue.'
FAULT = 'The evaluation sorts the scores of the whole catalogue for every user only to keep the best 20.'
CURE = 'Ask for the best 20 with topk.'
KIND = 'time'
FAULT_LINES = ['ranking = scores.argsort(dim=1, descending=True)', 'top = ranking[:, :k]']
FAULT_CALLS = ['argsort', 'sort']
FAULTY = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
g = torch.Generator().manual_seed(5)
torch.manual_seed(5)

N_USERS, N_ITEMS, D_USER, D_ITEM = 2400, 20000, 48, 64
item_x = torch.randn(N_ITEMS, D_ITEM, generator=g)
taste = torch.randn(N_USERS, 8, generator=g)
user_x = taste @ torch.randn(8, D_USER, generator=g) + 0.3 * torch.randn(N_USERS, D_USER, generator=g)
affinity = (taste @ torch.randn(8, D_ITEM, generator=g)) / 8

# 24 interactions per user, drawn by affinity from a random pool of 400 items; the last 4 are held out.
pool = torch.randint(0, N_ITEMS, (N_USERS, 400), generator=g)
pool_score = (item_x[pool] @ affinity.unsqueeze(-1)).squeeze(-1)
liked = pool.gather(1, torch.multinomial(F.softmax(1.5 * pool_score, 1), 24, generator=g))
train_items, test_items = liked[:, :20], liked[:, 20:]


def tower(d_in):
    return nn.Sequential(nn.Linear(d_in, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 48))


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = tower(D_USER), tower(D_ITEM)

    def loss(self, u, i):
        zu = F.normalize(self.user(user_x[u]), dim=1)
        zi = F.normalize(self.item(item_x[i]), dim=1)
        return F.cross_entropy(zu @ zi.T / 0.1, torch.arange(len(u)))


@torch.no_grad()
def evaluate(model, k=20, chunk=200):
    catalogue = F.normalize(model.item(item_x), dim=1)
    gains = 1.0 / torch.log2(torch.arange(k) + 2.0)
    ideal = gains[:test_items.shape[1]].sum()
    recall, ndcg = 0.0, 0.0
    for lo in range(0, N_USERS, chunk):
        users = slice(lo, lo + chunk)
        scores = F.normalize(model.user(user_x[users]), dim=1) @ catalogue.T
        scores.scatter_(1, train_items[users], -math.inf)
        ranking = scores.argsort(dim=1, descending=True)
        top = ranking[:, :k]
        hit = (top.unsqueeze(-1) == test_items[users].unsqueeze(1)).any(-1).float()
        recall += (hit.sum(1) / test_items.shape[1]).sum().item()
        ndcg += ((hit * gains).sum(1) / ideal).sum().item()
    return recall / N_USERS, ndcg / N_USERS


model = TwoTower()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
pairs = torch.stack([torch.arange(N_USERS).repeat_interleave(20), train_items.reshape(-1)], 1)

for epoch in range(3):
    shuffled = pairs[torch.randperm(len(pairs), generator=g)]
    running = 0.0
    batches = shuffled.split(256)
    for batch in batches:
        loss = model.loss(batch[:, 0], batch[:, 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    recall, ndcg = evaluate(model)
    print(f"epoch {epoch}: loss {running / len(batches):.3f}  recall@20 {recall:.4f}  ndcg@20 {ndcg:.4f}")
'''
CURED = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
g = torch.Generator().manual_seed(5)
torch.manual_seed(5)

N_USERS, N_ITEMS, D_USER, D_ITEM = 2400, 20000, 48, 64
item_x = torch.randn(N_ITEMS, D_ITEM, generator=g)
taste = torch.randn(N_USERS, 8, generator=g)
user_x = taste @ torch.randn(8, D_USER, generator=g) + 0.3 * torch.randn(N_USERS, D_USER, generator=g)
affinity = (taste @ torch.randn(8, D_ITEM, generator=g)) / 8

# 24 interactions per user, drawn by affinity from a random pool of 400 items; the last 4 are held out.
pool = torch.randint(0, N_ITEMS, (N_USERS, 400), generator=g)
pool_score = (item_x[pool] @ affinity.unsqueeze(-1)).squeeze(-1)
liked = pool.gather(1, torch.multinomial(F.softmax(1.5 * pool_score, 1), 24, generator=g))
train_items, test_items = liked[:, :20], liked[:, 20:]


def tower(d_in):
    return nn.Sequential(nn.Linear(d_in, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 48))


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = tower(D_USER), tower(D_ITEM)

    def loss(self, u, i):
        zu = F.normalize(self.user(user_x[u]), dim=1)
        zi = F.normalize(self.item(item_x[i]), dim=1)
        return F.cross_entropy(zu @ zi.T / 0.1, torch.arange(len(u)))


@torch.no_grad()
def evaluate(model, k=20, chunk=200):
    catalogue = F.normalize(model.item(item_x), dim=1)
    gains = 1.0 / torch.log2(torch.arange(k) + 2.0)
    ideal = gains[:test_items.shape[1]].sum()
    recall, ndcg = 0.0, 0.0
    for lo in range(0, N_USERS, chunk):
        users = slice(lo, lo + chunk)
        scores = F.normalize(model.user(user_x[users]), dim=1) @ catalogue.T
        scores.scatter_(1, train_items[users], -math.inf)
        top = scores.topk(k, dim=1).indices
        hit = (top.unsqueeze(-1) == test_items[users].unsqueeze(1)).any(-1).float()
        recall += (hit.sum(1) / test_items.shape[1]).sum().item()
        ndcg += ((hit * gains).sum(1) / ideal).sum().item()
    return recall / N_USERS, ndcg / N_USERS


model = TwoTower()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
pairs = torch.stack([torch.arange(N_USERS).repeat_interleave(20), train_items.reshape(-1)], 1)

for epoch in range(3):
    shuffled = pairs[torch.randperm(len(pairs), generator=g)]
    running = 0.0
    batches = shuffled.split(256)
    for batch in batches:
        loss = model.loss(batch[:, 0], batch[:, 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    recall, ndcg = evaluate(model)
    print(f"epoch {epoch}: loss {running / len(batches):.3f}  recall@20 {recall:.4f}  ndcg@20 {ndcg:.4f}")
'''
