NAME = 'Trains a matrix-factorisation recommender with BPR and reports recall and NDCG at 10 on a sample of users after each epoch.'
FAULT = 'The evaluation sorts the scores of all 18000 items for every user only to keep the ten best.'
CURE = 'Use scores.topk(K, dim=1).indices instead of the full argsort.'
KIND = 'time'
FAULT_LINES = [
    'return scores.argsort(dim=1, descending=True)[:, :K]',
]
FAULT_CALLS = ['argsort', 'sort', 'rank_items']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)

N_USERS, N_ITEMS, DIM, K = 2400, 18000, 48, 10

# implicit feedback from a hidden taste model
taste_u = torch.randn(N_USERS, 8)
taste_i = torch.randn(N_ITEMS, 8)
liked = torch.empty(N_USERS, 40, dtype=torch.long)
for s in range(0, N_USERS, 400):
    score = taste_u[s:s + 400] @ taste_i.T + 2 * torch.randn(400, N_ITEMS)
    liked[s:s + 400] = score.topk(40, dim=1).indices
order = torch.randperm(40)
train_items, test_items = liked[:, order[:32]], liked[:, order[32:]]


class MF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, pos, neg):
        u = self.user(u)
        return (u * self.item(pos)).sum(-1), (u * self.item(neg)).sum(-1)

    def score_all(self, users):
        return self.user(users) @ self.item.weight.T


def rank_items(model, users):
    scores = model.score_all(users)
    scores.scatter_(1, train_items[users], float("-inf"))
    return scores.argsort(dim=1, descending=True)[:, :K]


@torch.no_grad()
def evaluate(model, users, batch=300):
    discounts = 1 / torch.log2(torch.arange(2, K + 2).float())
    recall, ndcg = 0.0, 0.0
    for ub in users.split(batch):
        top = rank_items(model, ub)
        hit = (top[:, :, None] == test_items[ub][:, None, :]).any(-1).float()
        recall += hit.sum(1).div(test_items.shape[1]).sum()
        ndcg += ((hit * discounts).sum(1) / discounts[:test_items.shape[1]].sum()).sum()
    return float(recall / len(users)), float(ndcg / len(users))


model = MF(N_USERS, N_ITEMS, DIM)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
eval_users = torch.randperm(N_USERS)[:1200]
for epoch in range(4):
    running = 0.0
    for step in range(60):
        u = torch.randint(0, N_USERS, (8192,))
        pos = train_items[u, torch.randint(0, 32, (8192,))]
        neg = torch.randint(0, N_ITEMS, (8192,))
        p, n = model(u, pos, neg)
        loss = -F.logsigmoid(p - n).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.detach()
    r, nd = evaluate(model, eval_users)
    print(f"epoch {epoch}  bpr {running / 60:.4f}  recall@{K} {r:.4f}  ndcg@{K} {nd:.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)

N_USERS, N_ITEMS, DIM, K = 2400, 18000, 48, 10

# implicit feedback from a hidden taste model
taste_u = torch.randn(N_USERS, 8)
taste_i = torch.randn(N_ITEMS, 8)
liked = torch.empty(N_USERS, 40, dtype=torch.long)
for s in range(0, N_USERS, 400):
    score = taste_u[s:s + 400] @ taste_i.T + 2 * torch.randn(400, N_ITEMS)
    liked[s:s + 400] = score.topk(40, dim=1).indices
order = torch.randperm(40)
train_items, test_items = liked[:, order[:32]], liked[:, order[32:]]


class MF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, pos, neg):
        u = self.user(u)
        return (u * self.item(pos)).sum(-1), (u * self.item(neg)).sum(-1)

    def score_all(self, users):
        return self.user(users) @ self.item.weight.T


def rank_items(model, users):
    scores = model.score_all(users)
    scores.scatter_(1, train_items[users], float("-inf"))
    return scores.topk(K, dim=1).indices


@torch.no_grad()
def evaluate(model, users, batch=300):
    discounts = 1 / torch.log2(torch.arange(2, K + 2).float())
    recall, ndcg = 0.0, 0.0
    for ub in users.split(batch):
        top = rank_items(model, ub)
        hit = (top[:, :, None] == test_items[ub][:, None, :]).any(-1).float()
        recall += hit.sum(1).div(test_items.shape[1]).sum()
        ndcg += ((hit * discounts).sum(1) / discounts[:test_items.shape[1]].sum()).sum()
    return float(recall / len(users)), float(ndcg / len(users))


model = MF(N_USERS, N_ITEMS, DIM)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
eval_users = torch.randperm(N_USERS)[:1200]
for epoch in range(4):
    running = 0.0
    for step in range(60):
        u = torch.randint(0, N_USERS, (8192,))
        pos = train_items[u, torch.randint(0, 32, (8192,))]
        neg = torch.randint(0, N_ITEMS, (8192,))
        p, n = model(u, pos, neg)
        loss = -F.logsigmoid(p - n).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.detach()
    r, nd = evaluate(model, eval_users)
    print(f"epoch {epoch}  bpr {running / 60:.4f}  recall@{K} {r:.4f}  ndcg@{K} {nd:.4f}")
"""
