NAME = 'GCN for node classification on a dense RBF affinity graph'
FAULT = 'the constant symmetric normalisation D^-1/2 A D^-1/2 is rebuilt with two dense matmuls in every forward'
CURE = 'normalise the adjacency once in __init__ and keep it as a buffer'
KIND = 'time'
FAULT_LINES = ['a_hat = d_inv_sqrt @ a @ d_inv_sqrt', 'a_hat = normalize(self.adj)', 'out = model(X)']
FAULT_CALLS = ['torch.matmul', '@', 'aten::mm', 'normalize', 'torch.diag', 'GCN.forward']
FAULTY = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N, D, C = 1200, 64, 6

centers = torch.randn(C, D) * 1.2
y = torch.randint(0, C, (N,))
X = centers[y] + 1.8 * torch.randn(N, D)
train_mask = torch.rand(N) < 0.1

adj = torch.exp(-torch.cdist(X, X).pow(2) / (2 * 9.0 ** 2))
adj.fill_diagonal_(0)


def normalize(adj):
    a = adj + torch.eye(adj.size(0))
    deg = a.sum(1)
    d_inv_sqrt = torch.diag(deg.pow(-0.5))
    a_hat = d_inv_sqrt @ a @ d_inv_sqrt
    return a_hat


class GCN(nn.Module):
    def __init__(self, adj, d_in, d_hid, n_cls):
        super().__init__()
        self.register_buffer("adj", adj)
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, n_cls)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        a_hat = normalize(self.adj)
        h = F.relu(a_hat @ self.lin1(x))
        return a_hat @ self.lin2(self.drop(h))


model = GCN(adj, D, 256, C)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)

for epoch in range(45):
    model.train()
    out = model(X)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 15 == 14:
        acc = (out.argmax(1)[~train_mask] == y[~train_mask]).float().mean()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  transductive acc {acc.item():.3f}")
'''
CURED = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N, D, C = 1200, 64, 6

centers = torch.randn(C, D) * 1.2
y = torch.randint(0, C, (N,))
X = centers[y] + 1.8 * torch.randn(N, D)
train_mask = torch.rand(N) < 0.1

adj = torch.exp(-torch.cdist(X, X).pow(2) / (2 * 9.0 ** 2))
adj.fill_diagonal_(0)


def normalize(adj):
    a = adj + torch.eye(adj.size(0))
    deg = a.sum(1)
    d_inv_sqrt = torch.diag(deg.pow(-0.5))
    a_hat = d_inv_sqrt @ a @ d_inv_sqrt
    return a_hat


class GCN(nn.Module):
    def __init__(self, adj, d_in, d_hid, n_cls):
        super().__init__()
        self.register_buffer("a_hat", normalize(adj))
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, n_cls)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        a_hat = self.a_hat
        h = F.relu(a_hat @ self.lin1(x))
        return a_hat @ self.lin2(self.drop(h))


model = GCN(adj, D, 256, C)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)

for epoch in range(45):
    model.train()
    out = model(X)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 15 == 14:
        acc = (out.argmax(1)[~train_mask] == y[~train_mask]).float().mean()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  transductive acc {acc.item():.3f}")
'''
