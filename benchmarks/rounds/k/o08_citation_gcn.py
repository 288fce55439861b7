NAME = 'Trains a two-layer graph convolution network on a synthetic citation graph with bag-of-words features.'
FAULT = 'The layer averages over the neighbours in the wide word space (1200 columns) and projects to 16 columns only afterwards.'
CURE = 'Project first, then propagate: adj @ (x @ weight).'
KIND = 'time'
FAULT_LINES = ['neighbours = adj @ x', 'return neighbours @ self.weight + self.bias']
FAULT_CALLS = ['forward', '__matmul__', 'matmul', 'mm', 'addmm']
FAULTY = r"""
import numpy as np
import scipy.sparse as sp
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)
N_PAPERS, N_WORDS, N_FIELDS = 4000, 1200, 5


def citation_graph():
    field = rng.integers(0, N_FIELDS, N_PAPERS)
    src, dst = [], []
    for f in range(N_FIELDS):
        members = np.flatnonzero(field == f)
        src.append(rng.choice(members, 30000))
        dst.append(rng.choice(members, 30000))
    src.append(rng.integers(0, N_PAPERS, 45000))
    dst.append(rng.integers(0, N_PAPERS, 45000))
    src, dst = np.concatenate(src), np.concatenate(dst)
    A = sp.coo_matrix((np.ones(len(src)), (src, dst)), shape=(N_PAPERS, N_PAPERS))
    A = ((A + A.T) > 0).astype(np.float32) + sp.eye(N_PAPERS, dtype=np.float32)
    d = sp.diags(np.asarray(A.sum(1)).ravel() ** -0.5)
    A = (d @ A @ d).tocsr().astype(np.float32)
    words = (rng.random((N_PAPERS, N_WORDS)) < 0.01).astype(np.float32)
    for f in range(N_FIELDS):
        rows = np.flatnonzero(field == f)
        words[np.ix_(rows, np.arange(f * 40, f * 40 + 40))] += rng.random((len(rows), 40)) < 0.04
    adj = torch.sparse_csr_tensor(torch.from_numpy(A.indptr.astype(np.int64)), torch.from_numpy(A.indices.astype(np.int64)),
                                  torch.from_numpy(A.data), A.shape)
    return adj, torch.from_numpy(words), torch.from_numpy(field)


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, x):
        neighbours = adj @ x
        return neighbours @ self.weight + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=16, p=0.5):
        super().__init__()
        self.first = GraphConv(N_WORDS, hidden)
        self.second = GraphConv(hidden, N_FIELDS)
        self.drop = nn.Dropout(p)

    def forward(self, adj, x):
        h = torch.relu(self.first(adj, self.drop(x)))
        return self.second(adj, self.drop(h))


adj, x, y = citation_graph()
order = torch.randperm(N_PAPERS)
train, valid = order[:600], order[600:1600]
model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(30):
    model.train()
    loss = nn.functional.cross_entropy(model(adj, x)[train], y[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            acc = (model(adj, x)[valid].argmax(1) == y[valid]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} valid {acc:.2f}")
"""
CURED = r"""
import numpy as np
import scipy.sparse as sp
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)
N_PAPERS, N_WORDS, N_FIELDS = 4000, 1200, 5


def citation_graph():
    field = rng.integers(0, N_FIELDS, N_PAPERS)
    src, dst = [], []
    for f in range(N_FIELDS):
        members = np.flatnonzero(field == f)
        src.append(rng.choice(members, 30000))
        dst.append(rng.choice(members, 30000))
    src.append(rng.integers(0, N_PAPERS, 45000))
    dst.append(rng.integers(0, N_PAPERS, 45000))
    src, dst = np.concatenate(src), np.concatenate(dst)
    A = sp.coo_matrix((np.ones(len(src)), (src, dst)), shape=(N_PAPERS, N_PAPERS))
    A = ((A + A.T) > 0).astype(np.float32) + sp.eye(N_PAPERS, dtype=np.float32)
    d = sp.diags(np.asarray(A.sum(1)).ravel() ** -0.5)
    A = (d @ A @ d).tocsr().astype(np.float32)
    words = (rng.random((N_PAPERS, N_WORDS)) < 0.01).astype(np.float32)
    for f in range(N_FIELDS):
        rows = np.flatnonzero(field == f)
        words[np.ix_(rows, np.arange(f * 40, f * 40 + 40))] += rng.random((len(rows), 40)) < 0.04
    adj = torch.sparse_csr_tensor(torch.from_numpy(A.indptr.astype(np.int64)), torch.from_numpy(A.indices.astype(np.int64)),
                                  torch.from_numpy(A.data), A.shape)
    return adj, torch.from_numpy(words), torch.from_numpy(field)


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, x):
        projected = x @ self.weight
        return adj @ projected + self.bias


class GCN(nn.Module):
    def __init__(self, hidden=16, p=0.5):
        super().__init__()
        self.first = GraphConv(N_WORDS, hidden)
        self.second = GraphConv(hidden, N_FIELDS)
        self.drop = nn.Dropout(p)

    def forward(self, adj, x):
        h = torch.relu(self.first(adj, self.drop(x)))
        return self.second(adj, self.drop(h))


adj, x, y = citation_graph()
order = torch.randperm(N_PAPERS)
train, valid = order[:600], order[600:1600]
model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(30):
    model.train()
    loss = nn.functional.cross_entropy(model(adj, x)[train], y[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            acc = (model(adj, x)[valid].argmax(1) == y[valid]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} valid {acc:.2f}")
"""
