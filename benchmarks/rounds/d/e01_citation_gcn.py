NAME = 'e01_citation_gcn'

FAULT = 'The normalised adjacency of a very sparse citation graph is kept as a dense n x n matrix, so each propagation is a dense matrix product over almost only zeros.'

CURE = 'Convert the adjacency to a sparse (CSR) tensor and multiply with torch.sparse.mm / the sparse @.'

KIND = 'time'

FAULT_LINES = [
    '    adj = torch.zeros(n, n)',
    '        h = F.relu(adj @ self.lin1(x))',
    '        return adj @ self.lin2(F.dropout(h, 0.5, self.training))',
]

FAULT_CALLS = [
    'torch.matmul',
    'Tensor.__matmul__',
    'aten::mm',
]

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)

# ---- synthetic "citation" graph with 6 topics ---------------------------------
n_nodes, n_topics, n_words = 3600, 6, 300
topic = torch.randint(0, n_topics, (n_nodes,))
proto = (torch.rand(n_topics, n_words) < 0.08).float()
x = ((proto[topic] * 0.35 + 0.03) > torch.rand(n_nodes, n_words)).float()

src = torch.randint(0, n_nodes, (n_nodes * 8,))
dst = torch.randint(0, n_nodes, (n_nodes * 8,))
same = topic[src] == topic[dst]
keep = same | (torch.rand(len(src)) < 0.15)
src, dst = src[keep], dst[keep]
print(f"{n_nodes} papers, {len(src)} citations")


def build_adjacency(src, dst, n):
    """Symmetric, with self loops, D^-1/2 (A+I) D^-1/2."""
    adj = torch.zeros(n, n)
    adj[src, dst] = 1.0
    adj[dst, src] = 1.0
    adj.fill_diagonal_(1.0)
    d = adj.sum(1).pow(-0.5)
    adj = d[:, None] * adj * d[None, :]
    return adj


class GCN(nn.Module):
    def __init__(self, d_in, d_hid, d_out):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, d_out)

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(x))
        return adj @ self.lin2(F.dropout(h, 0.5, self.training))


adj = build_adjacency(src, dst, n_nodes)
perm = torch.randperm(n_nodes)
train_idx, val_idx = perm[:300], perm[300:1300]

model = GCN(n_words, 96, n_topics)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(90):
    model.train()
    opt.zero_grad()
    out = model(x, adj)
    loss = F.cross_entropy(out[train_idx], topic[train_idx])
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            acc = (model(x, adj)[val_idx].argmax(1) == topic[val_idx]).float().mean()
        print(f"epoch {epoch + 1:3d}  loss {loss.item():.4f}  val acc {acc.item():.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)

# ---- synthetic "citation" graph with 6 topics ---------------------------------
n_nodes, n_topics, n_words = 3600, 6, 300
topic = torch.randint(0, n_topics, (n_nodes,))
proto = (torch.rand(n_topics, n_words) < 0.08).float()
x = ((proto[topic] * 0.35 + 0.03) > torch.rand(n_nodes, n_words)).float()

src = torch.randint(0, n_nodes, (n_nodes * 8,))
dst = torch.randint(0, n_nodes, (n_nodes * 8,))
same = topic[src] == topic[dst]
keep = same | (torch.rand(len(src)) < 0.15)
src, dst = src[keep], dst[keep]
print(f"{n_nodes} papers, {len(src)} citations")


def build_adjacency(src, dst, n):
    """Symmetric, with self loops, D^-1/2 (A+I) D^-1/2."""
    adj = torch.zeros(n, n)
    adj[src, dst] = 1.0
    adj[dst, src] = 1.0
    adj.fill_diagonal_(1.0)
    d = adj.sum(1).pow(-0.5)
    adj = d[:, None] * adj * d[None, :]
    return adj.to_sparse_csr()


class GCN(nn.Module):
    def __init__(self, d_in, d_hid, d_out):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d_hid)
        self.lin2 = nn.Linear(d_hid, d_out)

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(x))
        return adj @ self.lin2(F.dropout(h, 0.5, self.training))


adj = build_adjacency(src, dst, n_nodes)
perm = torch.randperm(n_nodes)
train_idx, val_idx = perm[:300], perm[300:1300]

model = GCN(n_words, 96, n_topics)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(90):
    model.train()
    opt.zero_grad()
    out = model(x, adj)
    loss = F.cross_entropy(out[train_idx], topic[train_idx])
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            acc = (model(x, adj)[val_idx].argmax(1) == topic[val_idx]).float().mean()
        print(f"epoch {epoch + 1:3d}  loss {loss.item():.4f}  val acc {acc.item():.3f}")
'''
