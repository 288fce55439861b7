NAME = 'Trains a neural matrix-factorisation recommender with a BPR loss on implicit feedback and reports a sampled hit rate.'
FAULT = 'The big embedding tables produce dense gradients, so every step fills and applies full-table gradients for the few thousand rows that were used.'
CURE = 'Build the embeddings with sparse=True (plain SGD gives the same update).'
KIND = 'time'
FAULT_LINES = ['self.user = nn.Embedding(n_users, dim)', 'self.item = nn.Embedding(n_items, dim)', 'loss.backward()', 'opt.step()']
FAULT_CALLS = ['embedding', 'embedding_dense_backward', 'backward', 'step', 'zero_grad', 'add_']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

N_USERS, N_ITEMS, DIM = 60_000, 100_000, 64
N_INTER, BATCH, STEPS = 400_000, 512, 280

# implicit feedback: users and items belong to hidden groups
user_group = torch.randint(0, 20, (N_USERS,))
item_group = torch.randint(0, 20, (N_ITEMS,))
items_by_group = [torch.where(item_group == g)[0] for g in range(20)]

def sample_interactions(n):
    u = torch.randint(0, N_USERS, (n,))
    i = (torch.rand(n) ** 4 * N_ITEMS).long()  # a few items are very popular
    liked = torch.rand(n) < 0.8
    for g, members in enumerate(items_by_group):
        sel = torch.where(liked & (user_group[u] == g))[0]
        i[sel] = members[(torch.rand(len(sel)) ** 4 * len(members)).long()]
    return u, i

train_u, train_i = sample_interactions(N_INTER)
test_u, test_i = sample_interactions(2000)


class NeuralMF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        self.mlp = nn.Sequential(
            nn.Linear(2 * dim, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, u, i):
        pu, qi = self.user(u), self.item(i)
        return (pu * qi).sum(-1) + self.mlp(torch.cat([pu, qi], -1)).squeeze(-1)


def batches(n, size, steps):
    for _ in range(steps):
        yield torch.randint(0, n, (size,))


@torch.no_grad()
def hit_rate(model, k=10, n_neg=99):
    hits = 0
    for u, i in zip(test_u.split(500), test_i.split(500)):
        cand = torch.cat([i[:, None], torch.randint(0, N_ITEMS, (len(u), n_neg))], 1)
        scores = model(u[:, None].expand_as(cand), cand)
        hits += (scores.topk(k, 1).indices == 0).any(1).sum().item()
    return hits / len(test_u)


model = NeuralMF(N_USERS, N_ITEMS, DIM)
opt = torch.optim.SGD([
    {"params": [model.user.weight, model.item.weight], "lr": 100.0},
    {"params": model.mlp.parameters(), "lr": 0.1},
])

print(f"hit@10 before {hit_rate(model):.3f}")
running = 0.0
for step, idx in enumerate(batches(N_INTER, BATCH, STEPS), 1):
    u, pos = train_u[idx], train_i[idx]
    neg = torch.randint(0, N_ITEMS, (len(idx), 2))
    s_pos = model(u, pos)
    s_neg = model(u[:, None].expand_as(neg), neg)
    loss = -F.logsigmoid(s_pos[:, None] - s_neg).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if step % 70 == 0:
        print(f"step {step:4d}  bpr loss {running / 70:.4f}")
        running = 0.0
print(f"hit@10 after {hit_rate(model):.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

N_USERS, N_ITEMS, DIM = 60_000, 100_000, 64
N_INTER, BATCH, STEPS = 400_000, 512, 280

# implicit feedback: users and items belong to hidden groups
user_group = torch.randint(0, 20, (N_USERS,))
item_group = torch.randint(0, 20, (N_ITEMS,))
items_by_group = [torch.where(item_group == g)[0] for g in range(20)]

def sample_interactions(n):
    u = torch.randint(0, N_USERS, (n,))
    i = (torch.rand(n) ** 4 * N_ITEMS).long()  # a few items are very popular
    liked = torch.rand(n) < 0.8
    for g, members in enumerate(items_by_group):
        sel = torch.where(liked & (user_group[u] == g))[0]
        i[sel] = members[(torch.rand(len(sel)) ** 4 * len(members)).long()]
    return u, i

train_u, train_i = sample_interactions(N_INTER)
test_u, test_i = sample_interactions(2000)


class NeuralMF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim, sparse=True)
        self.item = nn.Embedding(n_items, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        self.mlp = nn.Sequential(
            nn.Linear(2 * dim, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, u, i):
        pu, qi = self.user(u), self.item(i)
        return (pu * qi).sum(-1) + self.mlp(torch.cat([pu, qi], -1)).squeeze(-1)


def batches(n, size, steps):
    for _ in range(steps):
        yield torch.randint(0, n, (size,))


@torch.no_grad()
def hit_rate(model, k=10, n_neg=99):
    hits = 0
    for u, i in zip(test_u.split(500), test_i.split(500)):
        cand = torch.cat([i[:, None], torch.randint(0, N_ITEMS, (len(u), n_neg))], 1)
        scores = model(u[:, None].expand_as(cand), cand)
        hits += (scores.topk(k, 1).indices == 0).any(1).sum().item()
    return hits / len(test_u)


model = NeuralMF(N_USERS, N_ITEMS, DIM)
opt = torch.optim.SGD([
    {"params": [model.user.weight, model.item.weight], "lr": 100.0},
    {"params": model.mlp.parameters(), "lr": 0.1},
])

print(f"hit@10 before {hit_rate(model):.3f}")
running = 0.0
for step, idx in enumerate(batches(N_INTER, BATCH, STEPS), 1):
    u, pos = train_u[idx], train_i[idx]
    neg = torch.randint(0, N_ITEMS, (len(idx), 2))
    s_pos = model(u, pos)
    s_neg = model(u[:, None].expand_as(neg), neg)
    loss = -F.logsigmoid(s_pos[:, None] - s_neg).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if step % 70 == 0:
        print(f"step {step:4d}  bpr loss {running / 70:.4f}")
        running = 0.0
print(f"hit@10 after {hit_rate(model):.3f}")
'''
