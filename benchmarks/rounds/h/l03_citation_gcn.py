NAME = 'Trains a two-layer GCN on a synthetic citation graph with bag-of-words features.'
FAULT = 'The graph convolution aggregates the 500 wide input features over all edges first and only then projects them to 16 channels.'
CURE = 'Project first, then aggregate: torch.sparse.mm(adj, x @ self.weight).'
KIND = 'time'
FAULT_LINES = [
    'neighbours = torch.sparse.mm(adj, x)',
    'return neighbours @ self.weight + self.bias',
    'h = F.relu(self.c1(adj, x))',
]
FAULT_CALLS = ['torch.sparse.mm', 'sparse.mm', 'GraphConv.forward', 'forward', 'aten::_sparse_mm', 'aten::sparse_mm', 'aten::_sparse_addmm', 'aten::addmm', 'aten::mm', 'aten::matmul']
FAULTY = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(7)
np.random.seed(7)

n_papers, n_words, n_topics = 6000, 500, 7
n_cites = 60000

# ------------------------------------------------------------------
# synthetic citation graph with topic homophily
# ------------------------------------------------------------------
topic = np.random.randint(0, n_topics, n_papers)
order = np.argsort(topic, kind='stable')
start = np.searchsorted(topic[order], np.arange(n_topics))
count = np.bincount(topic, minlength=n_topics)

src = np.random.randint(0, n_papers, n_cites)
same = np.random.rand(n_cites) < 0.65
inside = order[start[topic[src]] + (np.random.rand(n_cites) * count[topic[src]]).astype(int)]
dst = np.where(same, inside, np.random.randint(0, n_papers, n_cites))

word_probs = torch.rand(n_topics, n_words) * 0.02 + 0.01
labels = torch.from_numpy(topic)
features = torch.bernoulli(word_probs[labels])
features = features / features.sum(1, keepdim=True).clamp(min=1)


def normalised_adjacency(src, dst, n):
    row = torch.from_numpy(np.concatenate([src, dst, np.arange(n)]))
    col = torch.from_numpy(np.concatenate([dst, src, np.arange(n)]))
    a = torch.sparse_coo_tensor(torch.stack([row, col]), torch.ones(len(row)), (n, n)).coalesce()
    idx = a.indices()
    deg = torch.zeros(n).index_add_(0, idx[0], a.values())
    w = a.values() / torch.sqrt(deg[idx[0]] * deg[idx[1]])
    return torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, x):
        neighbours = torch.sparse.mm(adj, x)
        return neighbours @ self.weight + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = GraphConv(n_words, 16)
        self.c2 = GraphConv(16, n_topics)

    def forward(self, adj, x):
        h = F.relu(self.c1(adj, x))
        h = F.dropout(h, 0.5, self.training)
        return self.c2(adj, h)


adj = normalised_adjacency(src, dst, n_papers)
perm = torch.randperm(n_papers)
train_idx, val_idx, test_idx = perm[:600], perm[600:1600], perm[1600:]

net = GCN()
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
best_val, best_test = 0.0, 0.0

for epoch in range(240):
    net.train()
    opt.zero_grad()
    logits = net(adj, features)
    loss = F.cross_entropy(logits[train_idx], labels[train_idx])
    loss.backward()
    opt.step()

    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            pred = net(adj, features).argmax(1)
        val = (pred[val_idx] == labels[val_idx]).float().mean().item()
        if val > best_val:
            best_val = val
            best_test = (pred[test_idx] == labels[test_idx]).float().mean().item()

print(f'final loss {loss.item():.4f}')
print(f'best val acc {best_val:.3f}, test acc at that epoch {best_test:.3f}')
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(7)
np.random.seed(7)

n_papers, n_words, n_topics = 6000, 500, 7
n_cites = 60000

# ------------------------------------------------------------------
# synthetic citation graph with topic homophily
# ------------------------------------------------------------------
topic = np.random.randint(0, n_topics, n_papers)
order = np.argsort(topic, kind='stable')
start = np.searchsorted(topic[order], np.arange(n_topics))
count = np.bincount(topic, minlength=n_topics)

src = np.random.randint(0, n_papers, n_cites)
same = np.random.rand(n_cites) < 0.65
inside = order[start[topic[src]] + (np.random.rand(n_cites) * count[topic[src]]).astype(int)]
dst = np.where(same, inside, np.random.randint(0, n_papers, n_cites))

word_probs = torch.rand(n_topics, n_words) * 0.02 + 0.01
labels = torch.from_numpy(topic)
features = torch.bernoulli(word_probs[labels])
features = features / features.sum(1, keepdim=True).clamp(min=1)


def normalised_adjacency(src, dst, n):
    row = torch.from_numpy(np.concatenate([src, dst, np.arange(n)]))
    col = torch.from_numpy(np.concatenate([dst, src, np.arange(n)]))
    a = torch.sparse_coo_tensor(torch.stack([row, col]), torch.ones(len(row)), (n, n)).coalesce()
    idx = a.indices()
    deg = torch.zeros(n).index_add_(0, idx[0], a.values())
    w = a.values() / torch.sqrt(deg[idx[0]] * deg[idx[1]])
    return torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, x):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = GraphConv(n_words, 16)
        self.c2 = GraphConv(16, n_topics)

    def forward(self, adj, x):
        h = F.relu(self.c1(adj, x))
        h = F.dropout(h, 0.5, self.training)
        return self.c2(adj, h)


adj = normalised_adjacency(src, dst, n_papers)
perm = torch.randperm(n_papers)
train_idx, val_idx, test_idx = perm[:600], perm[600:1600], perm[1600:]

net = GCN()
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
best_val, best_test = 0.0, 0.0

for epoch in range(240):
    net.train()
    opt.zero_grad()
    logits = net(adj, features)
    loss = F.cross_entropy(logits[train_idx], labels[train_idx])
    loss.backward()
    opt.step()

    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            pred = net(adj, features).argmax(1)
        val = (pred[val_idx] == labels[val_idx]).float().mean().item()
        if val > best_val:
            best_val = val
            best_test = (pred[test_idx] == labels[test_idx]).float().mean().item()

print(f'final loss {loss.item():.4f}')
print(f'best val acc {best_val:.3f}, test acc at that epoch {best_test:.3f}')
"""
