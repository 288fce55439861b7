NAME = 'Graph convolution network on a citation-like graph'
FAULT = 'The normalised adjacency matrix, of which less than one per cent is non-zero, is kept and multiplied dense.'
CURE = 'Keep it as a sparse tensor and use torch.sparse.mm.'
KIND = 'time'
FAULT_LINES = [
    'A_hat = d_inv[:, None] * A * d_inv[None, :]',
    'return A_hat @ self.lin(h)',
    'A = torch.from_numpy(nx.to_numpy_array(graph, dtype=np.float32))',
]
FAULT_CALLS = ['aten::mm', 'aten::matmul', 'GCNLayer.forward']
FAULTY = r"""import networkx as nx
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)
np.random.seed(19)

blocks = [500, 460, 420, 380, 340]
n = sum(blocks)
k = len(blocks)
p = np.full((k, k), 0.0006) + np.eye(k) * 0.009
graph = nx.stochastic_block_model(blocks, p, seed=19)
labels = torch.tensor([graph.nodes[i]["block"] for i in range(n)])
print(n, "papers,", graph.number_of_edges(), "citations")

A = torch.from_numpy(nx.to_numpy_array(graph, dtype=np.float32))
A += torch.eye(n)
d_inv = A.sum(1).rsqrt()
A_hat = d_inv[:, None] * A * d_inv[None, :]

vocab = 120
topic = torch.rand(k, vocab) ** 6
X = torch.bernoulli((0.02 + 0.10 * topic)[labels])
X = X / X.sum(1, keepdim=True).clamp(min=1)

order = torch.randperm(n)
train, val, test = order[:200], order[200:600], order[600:]


class GCNLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, h):
        return A_hat @ self.lin(h)


class GCN(nn.Module):
    def __init__(self, d_in, hidden, classes, dropout=0.4):
        super().__init__()
        self.one = GCNLayer(d_in, hidden)
        self.two = GCNLayer(hidden, classes)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        h = F.relu(self.one(self.drop(x)))
        return self.two(self.drop(h))


model = GCN(vocab, 64, k)
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
best_val, best_test = 0.0, 0.0
for epoch in range(1, 261):
    model.train()
    loss = F.cross_entropy(model(X)[train], labels[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(X).argmax(1)
        acc_val = (pred[val] == labels[val]).float().mean().item()
        acc_test = (pred[test] == labels[test]).float().mean().item()
        if acc_val > best_val:
            best_val, best_test = acc_val, acc_test
        if epoch % 40 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}  val {acc_val:.3f}  test {acc_test:.3f}")
print(f"best val {best_val:.3f} -> test {best_test:.3f}")
"""
CURED = r"""import networkx as nx
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)
np.random.seed(19)

blocks = [500, 460, 420, 380, 340]
n = sum(blocks)
k = len(blocks)
p = np.full((k, k), 0.0006) + np.eye(k) * 0.009
graph = nx.stochastic_block_model(blocks, p, seed=19)
labels = torch.tensor([graph.nodes[i]["block"] for i in range(n)])
print(n, "papers,", graph.number_of_edges(), "citations")

A = torch.from_numpy(nx.to_numpy_array(graph, dtype=np.float32))
A += torch.eye(n)
d_inv = A.sum(1).rsqrt()
A_hat = (d_inv[:, None] * A * d_inv[None, :]).to_sparse()

vocab = 120
topic = torch.rand(k, vocab) ** 6
X = torch.bernoulli((0.02 + 0.10 * topic)[labels])
X = X / X.sum(1, keepdim=True).clamp(min=1)

order = torch.randperm(n)
train, val, test = order[:200], order[200:600], order[600:]


class GCNLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, h):
        return torch.sparse.mm(A_hat, self.lin(h))


class GCN(nn.Module):
    def __init__(self, d_in, hidden, classes, dropout=0.4):
        super().__init__()
        self.one = GCNLayer(d_in, hidden)
        self.two = GCNLayer(hidden, classes)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        h = F.relu(self.one(self.drop(x)))
        return self.two(self.drop(h))


model = GCN(vocab, 64, k)
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
best_val, best_test = 0.0, 0.0
for epoch in range(1, 261):
    model.train()
    loss = F.cross_entropy(model(X)[train], labels[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(X).argmax(1)
        acc_val = (pred[val] == labels[val]).float().mean().item()
        acc_test = (pred[test] == labels[test]).float().mean().item()
        if acc_val > best_val:
            best_val, best_test = acc_val, acc_test
        if epoch % 40 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f}  val {acc_val:.3f}  test {acc_test:.3f}")
print(f"best val {best_val:.3f} -> test {best_test:.3f}")
"""
