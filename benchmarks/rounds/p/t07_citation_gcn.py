NAME = 'Trains a two-layer graph convolution network on a random citation graph with edge dropout.'
FAULT = 'The degree scaling is done by two full n x n matrix products with diagonal matrices.'
CURE = 'Multiply rows and columns by broadcasting the vector of inverse square roots.'
KIND = 'time'
FAULT_LINES = [
    'd = torch.diag(a.sum(1).pow(-0.5))',
    'return d @ a @ d',
]
FAULT_CALLS = ['normalise', 'matmul', '__matmul__', 'mm', 'diag']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(9)
torch.manual_seed(9)

n, feat, classes = 1200, 100, 5
y = torch.randint(classes, (n,), generator=gen)
same = (y[:, None] == y[None, :]).float()
prob = 0.012 * same + 0.0015 * (1 - same)
upper = torch.triu((torch.rand(n, n, generator=gen) < prob).float(), 1)
adj = upper + upper.t()
x = torch.randn(n, feat, generator=gen) + 0.25 * F.one_hot(y, feat).float() * 4
train_mask = torch.rand(n, generator=gen) < 0.15


def normalise(a):
    a = a + torch.eye(a.shape[0])
    d = torch.diag(a.sum(1).pow(-0.5))
    return d @ a @ d


def drop_edges(a, p):
    keep = torch.triu((torch.rand_like(a) > p).float(), 1)
    return a * (keep + keep.t())


class GCN(nn.Module):
    def __init__(self, d_in, d_hid, d_out):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, d_out)

    def forward(self, x, a):
        h = F.relu(a @ self.lin1(x))
        return a @ self.lin2(h)


model = GCN(feat, 64, classes)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
full = normalise(adj)
for epoch in range(60):
    model.train()
    a = normalise(drop_edges(adj, 0.2))
    out = model(x, a)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (epoch + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x, full).argmax(1) == y)[~train_mask].float().mean()
        print(f'{epoch + 1:3d}  loss {loss.item():.3f}  test acc {acc:.3f}')
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(9)
torch.manual_seed(9)

n, feat, classes = 1200, 100, 5
y = torch.randint(classes, (n,), generator=gen)
same = (y[:, None] == y[None, :]).float()
prob = 0.012 * same + 0.0015 * (1 - same)
upper = torch.triu((torch.rand(n, n, generator=gen) < prob).float(), 1)
adj = upper + upper.t()
x = torch.randn(n, feat, generator=gen) + 0.25 * F.one_hot(y, feat).float() * 4
train_mask = torch.rand(n, generator=gen) < 0.15


def normalise(a):
    a = a + torch.eye(a.shape[0])
    d = a.sum(1).pow(-0.5)
    return d[:, None] * a * d[None, :]


def drop_edges(a, p):
    keep = torch.triu((torch.rand_like(a) > p).float(), 1)
    return a * (keep + keep.t())


class GCN(nn.Module):
    def __init__(self, d_in, d_hid, d_out):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, d_out)

    def forward(self, x, a):
        h = F.relu(a @ self.lin1(x))
        return a @ self.lin2(h)


model = GCN(feat, 64, classes)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
full = normalise(adj)
for epoch in range(60):
    model.train()
    a = normalise(drop_edges(adj, 0.2))
    out = model(x, a)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (epoch + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x, full).argmax(1) == y)[~train_mask].float().mean()
        print(f'{epoch + 1:3d}  loss {loss.item():.3f}  test acc {acc:.3f}')
"""
