NAME = 'Trains a two-layer GCN for node classification on a synthetic citation graph.'
FAULT = 'The normalised adjacency of a sparse graph (about 10 neighbours a node) is held and multiplied as a dense matrix.'
CURE = 'Convert the adjacency to a sparse CSR tensor once.'
KIND = 'time'
FAULT_LINES = [
    'h = F.relu(adj @ self.lin1(F.dropout(x, self.p, self.training)))',
    'return adj @ self.lin2(F.dropout(h, self.p, self.training))',
    'adj = build_adjacency(edges, N_NODES)',
]
FAULT_CALLS = ['@', 'matmul', 'mm', '__matmul__', 'forward']

FAULTY = r'''import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

N_NODES, N_CLASSES, N_FEATURES = 3000, 7, 500
N_EDGES = 15_000


def make_graph():
    labels = torch.randint(0, N_CLASSES, (N_NODES,))
    by_class = [torch.nonzero(labels == c).squeeze(1) for c in range(N_CLASSES)]
    src = torch.randint(0, N_NODES, (N_EDGES,))
    dst = torch.randint(0, N_NODES, (N_EDGES,))
    same = torch.rand(N_EDGES) < 0.6
    for c, members in enumerate(by_class):
        pick = same & (labels[src] == c)
        dst[pick] = members[torch.randint(0, len(members), (int(pick.sum()),))]
    keep = src != dst
    edges = torch.stack([src[keep], dst[keep]])
    topics = torch.randn(N_CLASSES, N_FEATURES)
    embeddings = 0.1 * topics[labels] + torch.randn(N_NODES, N_FEATURES)
    return F.normalize(embeddings, dim=1), edges, labels


def build_adjacency(edges, n):
    adj = torch.eye(n)
    adj[edges[0], edges[1]] = 1.0
    adj[edges[1], edges[0]] = 1.0
    inv_sqrt = adj.sum(1).rsqrt()
    return inv_sqrt[:, None] * adj * inv_sqrt[None, :]


class GCN(nn.Module):
    def __init__(self, hidden=64, p=0.5):
        super().__init__()
        self.lin1 = nn.Linear(N_FEATURES, hidden)
        self.lin2 = nn.Linear(hidden, N_CLASSES)
        self.p = p

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(F.dropout(x, self.p, self.training)))
        return adj @ self.lin2(F.dropout(h, self.p, self.training))


x, edges, labels = make_graph()
adj = build_adjacency(edges, N_NODES)
order = torch.randperm(N_NODES)
train_idx, val_idx, test_idx = order[:600], order[600:1200], order[1200:]

model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


@torch.no_grad()
def accuracy(idx):
    model.eval()
    return (model(x, adj)[idx].argmax(1) == labels[idx]).float().mean().item()


for epoch in range(1, 121):
    model.train()
    loss = F.cross_entropy(model(x, adj)[train_idx], labels[train_idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  loss {loss.item():.3f}  val acc {accuracy(val_idx):.2f}")

print(f"test accuracy {accuracy(test_idx):.2f}")
'''

CURED = r'''import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

N_NODES, N_CLASSES, N_FEATURES = 3000, 7, 500
N_EDGES = 15_000


def make_graph():
    labels = torch.randint(0, N_CLASSES, (N_NODES,))
    by_class = [torch.nonzero(labels == c).squeeze(1) for c in range(N_CLASSES)]
    src = torch.randint(0, N_NODES, (N_EDGES,))
    dst = torch.randint(0, N_NODES, (N_EDGES,))
    same = torch.rand(N_EDGES) < 0.6
    for c, members in enumerate(by_class):
        pick = same & (labels[src] == c)
        dst[pick] = members[torch.randint(0, len(members), (int(pick.sum()),))]
    keep = src != dst
    edges = torch.stack([src[keep], dst[keep]])
    topics = torch.randn(N_CLASSES, N_FEATURES)
    embeddings = 0.1 * topics[labels] + torch.randn(N_NODES, N_FEATURES)
    return F.normalize(embeddings, dim=1), edges, labels


def build_adjacency(edges, n):
    adj = torch.eye(n)
    adj[edges[0], edges[1]] = 1.0
    adj[edges[1], edges[0]] = 1.0
    inv_sqrt = adj.sum(1).rsqrt()
    return inv_sqrt[:, None] * adj * inv_sqrt[None, :]


class GCN(nn.Module):
    def __init__(self, hidden=64, p=0.5):
        super().__init__()
        self.lin1 = nn.Linear(N_FEATURES, hidden)
        self.lin2 = nn.Linear(hidden, N_CLASSES)
        self.p = p

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(F.dropout(x, self.p, self.training)))
        return adj @ self.lin2(F.dropout(h, self.p, self.training))


x, edges, labels = make_graph()
adj = build_adjacency(edges, N_NODES).to_sparse_csr()
order = torch.randperm(N_NODES)
train_idx, val_idx, test_idx = order[:600], order[600:1200], order[1200:]

model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


@torch.no_grad()
def accuracy(idx):
    model.eval()
    return (model(x, adj)[idx].argmax(1) == labels[idx]).float().mean().item()


for epoch in range(1, 121):
    model.train()
    loss = F.cross_entropy(model(x, adj)[train_idx], labels[train_idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  loss {loss.item():.3f}  val acc {accuracy(val_idx):.2f}")

print(f"test accuracy {accuracy(test_idx):.2f}")
'''
