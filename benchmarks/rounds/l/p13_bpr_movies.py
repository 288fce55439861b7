NAME = 'Trains a matrix factorisation recommender with a pairwise ranking loss.'
FAULT = 'The embedding tables (150,000 users, 100,000 items) get dense gradients, and so every step fills and applies gradients for all rows though a batch touches a few thousand.'
CURE = 'nn.Embedding(..., sparse=True) for the tables (SGD without momentum gives the same update).'
KIND = 'time'
FAULT_LINES = [
    'loss.backward()',
    'optimizer.step()',
    'optimizer.zero_grad()',
    'self.user = nn.Embedding(n_users, dim)',
    'self.item = nn.Embedding(n_items, dim)',
    'self.bias = nn.Embedding(n_items, 1)',
]
FAULT_CALLS = [
    'torch.Tensor.backward',
    'aten::embedding_dense_backward',
    'EmbeddingBackward0',
    'torch.optim.SGD.step',
    'Optimizer.step',
    'nn.Embedding',
]

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

n_users, n_items, dim, n_events = 150_000, 100_000, 32, 600_000

# users and items live on a circle of tastes
taste_u = torch.rand(n_users)
events_u = torch.randint(0, n_users, (n_events,))
events_i = ((taste_u[events_u] + 0.05 * torch.randn(n_events)) % 1.0 * n_items).long().clamp(0, n_items - 1)


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def forward(self, u, pos, neg):
        return -F.logsigmoid(self.score(u, pos) - self.score(u, neg)).mean()


model = BPR()
optimizer = torch.optim.SGD(model.parameters(), lr=40.0)

running = 0.0
for step in range(340):
    idx = torch.randint(0, n_events, (4096,))
    u, pos = events_u[idx], events_i[idx]
    neg = torch.randint(0, n_items, (4096,))
    loss = model(u, pos, neg)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * loss.item()

with torch.no_grad():
    idx = torch.randint(0, n_events, (20_000,))
    u, pos, neg = events_u[idx], events_i[idx], torch.randint(0, n_items, (20_000,))
    auc = (model.score(u, pos) > model.score(u, neg)).float().mean().item()
print(f"running loss {running:.4f}, auc {auc:.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

n_users, n_items, dim, n_events = 150_000, 100_000, 32, 600_000

# users and items live on a circle of tastes
taste_u = torch.rand(n_users)
events_u = torch.randint(0, n_users, (n_events,))
events_i = ((taste_u[events_u] + 0.05 * torch.randn(n_events)) % 1.0 * n_items).long().clamp(0, n_items - 1)


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, dim, sparse=True)
        self.item = nn.Embedding(n_items, dim, sparse=True)
        self.bias = nn.Embedding(n_items, 1, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def forward(self, u, pos, neg):
        return -F.logsigmoid(self.score(u, pos) - self.score(u, neg)).mean()


model = BPR()
optimizer = torch.optim.SGD(model.parameters(), lr=40.0)

running = 0.0
for step in range(340):
    idx = torch.randint(0, n_events, (4096,))
    u, pos = events_u[idx], events_i[idx]
    neg = torch.randint(0, n_items, (4096,))
    loss = model(u, pos, neg)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * loss.item()

with torch.no_grad():
    idx = torch.randint(0, n_events, (20_000,))
    u, pos, neg = events_u[idx], events_i[idx], torch.randint(0, n_items, (20_000,))
    auc = (model.score(u, pos) > model.score(u, neg)).float().mean().item()
print(f"running loss {running:.4f}, auc {auc:.4f}")
"""
