NAME = 'Trains a two-layer graph convolution network on a synthetic citation graph for node classification.'
FAULT = 'Each layer adds self-loops, counts degrees and builds the normalised sparse adjacency again in every forward pass, although the graph never changes.'
CURE = 'Build the normalised adjacency once before training and pass it to the layers.'
KIND = 'time'
FAULT_LINES = ['adj = normalised_adjacency(edge_index, x.shape[0])', 'a = torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()', 'return a.to_sparse_csr()']
FAULT_CALLS = ['normalised_adjacency', 'coalesce', 'to_sparse_csr', 'sparse_coo_tensor', 'bincount', 'cat']

FAULTY = r'''
import warnings
import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(0)

N, CLASSES, IN_DIM, HIDDEN = 12_000, 8, 64, 64


def make_graph():
    y = torch.randint(0, CLASSES, (N,))
    src = torch.randint(0, N, (110_000,))
    dst = torch.randint(0, N, (110_000,))
    # about half of the citations stay inside the field
    order = torch.argsort(y)
    starts = torch.searchsorted(y[order].contiguous(), torch.arange(CLASSES))
    sizes = torch.bincount(y, minlength=CLASSES)
    inside = torch.rand(len(src)) < 0.5
    pick = (torch.rand(len(src)) * sizes[y[src]]).long() + starts[y[src]]
    dst = torch.where(inside, order[pick], dst)
    src, dst = torch.cat([src, dst]), torch.cat([dst, src])
    keys = (src * N + dst)[src != dst].unique()
    x = torch.randn(CLASSES, IN_DIM)[y] * 0.12 + torch.randn(N, IN_DIM)
    return x, y, torch.stack([keys // N, keys % N])


def normalised_adjacency(edge_index, n):
    loops = torch.arange(n).expand(2, n)
    idx = torch.cat([edge_index, loops], dim=1)
    deg = torch.bincount(idx[0], minlength=n).float()
    inv = deg.rsqrt()
    w = inv[idx[0]] * inv[idx[1]]
    a = torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()
    return a.to_sparse_csr()


class Propagate(torch.autograd.Function):
    """A @ x for a symmetric A."""

    @staticmethod
    def forward(ctx, adj, x):
        ctx.adj = adj
        return adj @ x

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.adj @ grad


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, x, edge_index):
        adj = normalised_adjacency(edge_index, x.shape[0])
        return Propagate.apply(adj, self.lin(x))


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(IN_DIM, HIDDEN)
        self.conv1 = GraphConv(HIDDEN, HIDDEN)
        self.conv2 = GraphConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        h = F.relu(self.embed(x))
        h = F.dropout(F.relu(self.conv1(h, edge_index)), 0.3, self.training)
        return self.conv2(h, edge_index)


x, y, edge_index = make_graph()
perm = torch.randperm(N)
train_idx, val_idx = perm[:3000], perm[3000:6000]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 201):
    model.train()
    loss = F.cross_entropy(model(x, edge_index)[train_idx], y[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(x, edge_index)[val_idx].argmax(1)
        acc = (pred == y[val_idx]).float().mean().item()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  val acc {acc:.3f}")
'''

CURED = r'''
import warnings
import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(0)

N, CLASSES, IN_DIM, HIDDEN = 12_000, 8, 64, 64


def make_graph():
    y = torch.randint(0, CLASSES, (N,))
    src = torch.randint(0, N, (110_000,))
    dst = torch.randint(0, N, (110_000,))
    # about half of the citations stay inside the field
    order = torch.argsort(y)
    starts = torch.searchsorted(y[order].contiguous(), torch.arange(CLASSES))
    sizes = torch.bincount(y, minlength=CLASSES)
    inside = torch.rand(len(src)) < 0.5
    pick = (torch.rand(len(src)) * sizes[y[src]]).long() + starts[y[src]]
    dst = torch.where(inside, order[pick], dst)
    src, dst = torch.cat([src, dst]), torch.cat([dst, src])
    keys = (src * N + dst)[src != dst].unique()
    x = torch.randn(CLASSES, IN_DIM)[y] * 0.12 + torch.randn(N, IN_DIM)
    return x, y, torch.stack([keys // N, keys % N])


def normalised_adjacency(edge_index, n):
    loops = torch.arange(n).expand(2, n)
    idx = torch.cat([edge_index, loops], dim=1)
    deg = torch.bincount(idx[0], minlength=n).float()
    inv = deg.rsqrt()
    w = inv[idx[0]] * inv[idx[1]]
    a = torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()
    return a.to_sparse_csr()


class Propagate(torch.autograd.Function):
    """A @ x for a symmetric A."""

    @staticmethod
    def forward(ctx, adj, x):
        ctx.adj = adj
        return adj @ x

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.adj @ grad


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, x, adj):
        return Propagate.apply(adj, self.lin(x))


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(IN_DIM, HIDDEN)
        self.conv1 = GraphConv(HIDDEN, HIDDEN)
        self.conv2 = GraphConv(HIDDEN, CLASSES)

    def forward(self, x, adj):
        h = F.relu(self.embed(x))
        h = F.dropout(F.relu(self.conv1(h, adj)), 0.3, self.training)
        return self.conv2(h, adj)


x, y, edge_index = make_graph()
adj = normalised_adjacency(edge_index, N)
perm = torch.randperm(N)
train_idx, val_idx = perm[:3000], perm[3000:6000]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 201):
    model.train()
    loss = F.cross_entropy(model(x, adj)[train_idx], y[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(x, adj)[val_idx].argmax(1)
        acc = (pred == y[val_idx]).float().mean().item()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  val acc {acc:.3f}")
'''
