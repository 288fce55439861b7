NAME = 'Trains a two-tower recommender with sampled negatives on a large item catalogue with plain SGD.'
FAULT = 'The huge embedding tables make dense gradients, so every step allocates, fills and applies a full-size gradient though only a few thousand rows were touched.'
CURE = 'Use sparse=True for the embedding tables (SGD gives the same updates).'
KIND = 'time'
FAULT_LINES = ['self.items = nn.Embedding(N_ITEMS, DIM)', 'self.users = nn.Embedding(N_USERS, DIM)', 'loss.backward()', 'optimizer.step()']
FAULT_CALLS = ['backward', 'step', 'embedding_dense_backward', 'Embedding', 'add_', 'zeros']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(40)

N_USERS, N_ITEMS, DIM, NEG, BATCH = 60_000, 200_000, 48, 8, 512


def make_interactions(n):
    taste = torch.randint(0, 50, (N_USERS,))
    users = torch.randint(0, N_USERS, (n,))
    per_group = N_ITEMS // 50
    popular = (torch.rand(n) ** 2 * per_group).long()
    items = taste[users] * per_group + popular
    stray = torch.rand(n) < 0.1
    items[stray] = torch.randint(0, N_ITEMS, (int(stray.sum()),))
    return users, items


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM)
        self.items = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.users.weight, std=0.1)
        nn.init.normal_(self.items.weight, std=0.1)
        self.user_mlp = nn.Sequential(nn.Linear(DIM, 128), nn.GELU(), nn.Linear(128, 64))
        self.item_mlp = nn.Sequential(nn.Linear(DIM, 128), nn.GELU(), nn.Linear(128, 64))

    def user_vectors(self, users):
        return F.normalize(self.user_mlp(self.users(users)), dim=-1)

    def item_vectors(self, items):
        return F.normalize(self.item_mlp(self.items(items)), dim=-1)

    def forward(self, users, items):
        u = self.user_vectors(users)
        v = self.item_vectors(items)
        return 8.0 * torch.einsum("bd,bnd->bn", u, v)


def sample_batch(users, items, step):
    rows = torch.arange(step * BATCH, (step + 1) * BATCH) % len(users)
    negatives = torch.randint(0, N_ITEMS, (BATCH, NEG))
    candidates = torch.cat([items[rows].unsqueeze(1), negatives], dim=1)
    return users[rows], candidates


@torch.no_grad()
def mean_rank(model, users, items, n=200):
    candidates = torch.cat([items.unsqueeze(1), torch.randint(0, N_ITEMS, (len(users), n))], dim=1)
    scores = model(users, candidates)
    return (scores > scores[:, :1]).sum(1).float().mean().item()


users, items = make_interactions(300_000)
model = TwoTower()
optimizer = torch.optim.SGD([
    {"params": list(model.users.parameters()) + list(model.items.parameters()), "lr": 20.0},
    {"params": list(model.user_mlp.parameters()) + list(model.item_mlp.parameters())},
], lr=0.3)
labels = torch.zeros(BATCH, dtype=torch.long)

recent = []
for step in range(320):
    u, candidates = sample_batch(users, items, step)
    loss = F.cross_entropy(model(u, candidates), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss.item())
    if (step + 1) % 80 == 0:
        print(f"step {step + 1}: loss {sum(recent) / len(recent):.3f}")
        recent.clear()

print(f"mean rank among 200 random items {mean_rank(model, users[:256], items[:256]):.0f}")
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(40)

N_USERS, N_ITEMS, DIM, NEG, BATCH = 60_000, 200_000, 48, 8, 512


def make_interactions(n):
    taste = torch.randint(0, 50, (N_USERS,))
    users = torch.randint(0, N_USERS, (n,))
    per_group = N_ITEMS // 50
    popular = (torch.rand(n) ** 2 * per_group).long()
    items = taste[users] * per_group + popular
    stray = torch.rand(n) < 0.1
    items[stray] = torch.randint(0, N_ITEMS, (int(stray.sum()),))
    return users, items


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM, sparse=True)
        self.items = nn.Embedding(N_ITEMS, DIM, sparse=True)
        nn.init.normal_(self.users.weight, std=0.1)
        nn.init.normal_(self.items.weight, std=0.1)
        self.user_mlp = nn.Sequential(nn.Linear(DIM, 128), nn.GELU(), nn.Linear(128, 64))
        self.item_mlp = nn.Sequential(nn.Linear(DIM, 128), nn.GELU(), nn.Linear(128, 64))

    def user_vectors(self, users):
        return F.normalize(self.user_mlp(self.users(users)), dim=-1)

    def item_vectors(self, items):
        return F.normalize(self.item_mlp(self.items(items)), dim=-1)

    def forward(self, users, items):
        u = self.user_vectors(users)
        v = self.item_vectors(items)
        return 8.0 * torch.einsum("bd,bnd->bn", u, v)


def sample_batch(users, items, step):
    rows = torch.arange(step * BATCH, (step + 1) * BATCH) % len(users)
    negatives = torch.randint(0, N_ITEMS, (BATCH, NEG))
    candidates = torch.cat([items[rows].unsqueeze(1), negatives], dim=1)
    return users[rows], candidates


@torch.no_grad()
def mean_rank(model, users, items, n=200):
    candidates = torch.cat([items.unsqueeze(1), torch.randint(0, N_ITEMS, (len(users), n))], dim=1)
    scores = model(users, candidates)
    return (scores > scores[:, :1]).sum(1).float().mean().item()


users, items = make_interactions(300_000)
model = TwoTower()
optimizer = torch.optim.SGD([
    {"params": list(model.users.parameters()) + list(model.items.parameters()), "lr": 20.0},
    {"params": list(model.user_mlp.parameters()) + list(model.item_mlp.parameters())},
], lr=0.3)
labels = torch.zeros(BATCH, dtype=torch.long)

recent = []
for step in range(320):
    u, candidates = sample_batch(users, items, step)
    loss = F.cross_entropy(model(u, candidates), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss.item())
    if (step + 1) % 80 == 0:
        print(f"step {step + 1}: loss {sum(recent) / len(recent):.3f}")
        recent.clear()

print(f"mean rank among 200 random items {mean_rank(model, users[:256], items[:256]):.0f}")
"""
