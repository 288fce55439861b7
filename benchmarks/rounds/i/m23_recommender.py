NAME = 'Trains a matrix-factorisation recommender on implicit feedback with BPR loss and plain SGD.'
FAULT = 'The big user and item tables are nn.Embedding with the default dense gradients: every step fills and applies gradient matrices of the whole tables although a batch touches some thousand rows.'
CURE = 'Create the embeddings with sparse=True; plain SGD then updates only the rows of the batch, with the same result.'
KIND = 'time'
FAULT_LINES = [
    'self.user = nn.Embedding(n_users, dim)',
    'self.item = nn.Embedding(n_items, dim)',
    'loss.backward()',
    'opt.step()',
]
FAULT_CALLS = [
    'backward',
    'step',
    'SGD.step',
    'embedding_dense_backward',
    'add_',
    'run_backward',
    'embedding',
]
FAULTY = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

n_users, n_items, dim = 240_000, 80_000, 64


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i, j):
        p = self.user(u)
        return (p * (self.item(i) - self.item(j))).sum(-1)


# clicks: users of a group prefer items of the same group
n_clicks = 300_000
users = torch.randint(0, n_users, (n_clicks,))
items = (torch.randint(0, n_items // 20, (n_clicks,)) * 20 + users % 20)

model = BPR()
opt = torch.optim.SGD(model.parameters(), lr=400.0)
batch = 2048
total, steps = 0.0, 0
for idx in torch.randperm(n_clicks).split(batch):
    u, i = users[idx], items[idx]
    j = torch.randint(0, n_items, u.shape)
    loss = -F.logsigmoid(model(u, i, j)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    steps += 1
    if steps % 20 == 0:
        print(f"{steps:4d} steps, mean loss {total / steps:.5f}")
print(f"mean loss {total / steps:.5f}  item norm {model.item.weight.norm().item():.3f}")
"""
CURED = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

n_users, n_items, dim = 240_000, 80_000, 64


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, dim, sparse=True)
        self.item = nn.Embedding(n_items, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i, j):
        p = self.user(u)
        return (p * (self.item(i) - self.item(j))).sum(-1)


# clicks: users of a group prefer items of the same group
n_clicks = 300_000
users = torch.randint(0, n_users, (n_clicks,))
items = (torch.randint(0, n_items // 20, (n_clicks,)) * 20 + users % 20)

model = BPR()
opt = torch.optim.SGD(model.parameters(), lr=400.0)
batch = 2048
total, steps = 0.0, 0
for idx in torch.randperm(n_clicks).split(batch):
    u, i = users[idx], items[idx]
    j = torch.randint(0, n_items, u.shape)
    loss = -F.logsigmoid(model(u, i, j)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    steps += 1
    if steps % 20 == 0:
        print(f"{steps:4d} steps, mean loss {total / steps:.5f}")
print(f"mean loss {total / steps:.5f}  item norm {model.item.weight.norm().item():.3f}")
"""
