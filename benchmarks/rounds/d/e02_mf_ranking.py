NAME = 'e02_mf_ranking'

FAULT = 'All items are fully sorted for each user although only the first ten of the ranking are used.'

CURE = 'Use torch.topk(scores, k) in place of the full argsort.'

KIND = 'time'

FAULT_LINES = [
    '        ranked = torch.argsort(scores, dim=1, descending=True)',
    '        top = ranked[:, :k]',
]

FAULT_CALLS = [
    'torch.argsort',
    'aten::argsort',
    'aten::sort',
]

FAULTY = r'''
import math
import numpy as np
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(11)
torch.manual_seed(11)

N_USERS, N_ITEMS, DIM = 2500, 24000, 24

# implicit feedback: each user has liked a few items near their taste
taste = torch.randn(N_USERS, DIM) * 0.7
style = torch.randn(N_ITEMS, DIM) * 0.7
popularity = torch.from_numpy(rng.gumbel(size=N_ITEMS)).float()
likes = []
for u in range(N_USERS):
    cand = torch.from_numpy(rng.integers(0, N_ITEMS, 200))
    s = style[cand] @ taste[u] + popularity[cand]
    likes.append(cand[s.topk(12).indices])
likes = torch.stack(likes)
train, test = likes[:, :10], likes[:, 10:]

# BPR matrix factorisation
P = (torch.randn(N_USERS, DIM) * 0.1).requires_grad_()
Q = (torch.randn(N_ITEMS, DIM) * 0.1).requires_grad_()
b = torch.zeros(N_ITEMS, requires_grad=True)
opt = torch.optim.Adagrad([P, Q, b], lr=0.1)


def bpr_epoch(batch=4096, steps=10):
    total = 0.0
    for _ in range(steps):
        u = torch.randint(0, N_USERS, (batch,))
        i = train[u, torch.randint(0, 10, (batch,))]
        j = torch.randint(0, N_ITEMS, (batch,))
        diff = (P[u] * (Q[i] - Q[j])).sum(1) + b[i] - b[j]
        loss = -torch.nn.functional.logsigmoid(diff).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / steps


@torch.no_grad()
def evaluate(k=10, chunk=200):
    hits, ndcg = 0, 0.0
    discount = 1.0 / torch.log2(torch.arange(k, dtype=torch.float) + 2)
    for start in range(0, N_USERS, chunk):
        users = torch.arange(start, min(start + chunk, N_USERS))
        scores = P[users] @ Q.T + b
        scores.scatter_(1, train[users], -math.inf)
        ranked = torch.argsort(scores, dim=1, descending=True)
        top = ranked[:, :k]
        rel = (top[:, :, None] == test[users][:, None, :]).any(-1)
        hits += rel.any(1).sum().item()
        ndcg += (rel * discount).sum().item() / discount[:2].sum().item()
    return hits / N_USERS, ndcg / N_USERS


for epoch in range(4):
    loss = bpr_epoch()
    if epoch % 2 == 1:
        hr, nd = evaluate()
        print(f"epoch {epoch}: bpr {loss:.4f}  HR@10 {hr:.4f}  NDCG@10 {nd:.4f}")
'''

CURED = r'''
import math
import numpy as np
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(11)
torch.manual_seed(11)

N_USERS, N_ITEMS, DIM = 2500, 24000, 24

# implicit feedback: each user has liked a few items near their taste
taste = torch.randn(N_USERS, DIM) * 0.7
style = torch.randn(N_ITEMS, DIM) * 0.7
popularity = torch.from_numpy(rng.gumbel(size=N_ITEMS)).float()
likes = []
for u in range(N_USERS):
    cand = torch.from_numpy(rng.integers(0, N_ITEMS, 200))
    s = style[cand] @ taste[u] + popularity[cand]
    likes.append(cand[s.topk(12).indices])
likes = torch.stack(likes)
train, test = likes[:, :10], likes[:, 10:]

# BPR matrix factorisation
P = (torch.randn(N_USERS, DIM) * 0.1).requires_grad_()
Q = (torch.randn(N_ITEMS, DIM) * 0.1).requires_grad_()
b = torch.zeros(N_ITEMS, requires_grad=True)
opt = torch.optim.Adagrad([P, Q, b], lr=0.1)


def bpr_epoch(batch=4096, steps=10):
    total = 0.0
    for _ in range(steps):
        u = torch.randint(0, N_USERS, (batch,))
        i = train[u, torch.randint(0, 10, (batch,))]
        j = torch.randint(0, N_ITEMS, (batch,))
        diff = (P[u] * (Q[i] - Q[j])).sum(1) + b[i] - b[j]
        loss = -torch.nn.functional.logsigmoid(diff).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / steps


@torch.no_grad()
def evaluate(k=10, chunk=200):
    hits, ndcg = 0, 0.0
    discount = 1.0 / torch.log2(torch.arange(k, dtype=torch.float) + 2)
    for start in range(0, N_USERS, chunk):
        users = torch.arange(start, min(start + chunk, N_USERS))
        scores = P[users] @ Q.T + b
        scores.scatter_(1, train[users], -math.inf)
        top = torch.topk(scores, k, dim=1).indices
        rel = (top[:, :, None] == test[users][:, None, :]).any(-1)
        hits += rel.any(1).sum().item()
        ndcg += (rel * discount).sum().item() / discount[:2].sum().item()
    return hits / N_USERS, ndcg / N_USERS


for epoch in range(4):
    loss = bpr_epoch()
    if epoch % 2 == 1:
        hr, nd = evaluate()
        print(f"epoch {epoch}: bpr {loss:.4f}  HR@10 {hr:.4f}  NDCG@10 {nd:.4f}")
'''
