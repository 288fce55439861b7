NAME = 'Trains a two-layer GCN with skip connections on a made-up citation graph.'
FAULT = 'The normalised adjacency matrix, which has only a few entries per row, is kept as a dense matrix and multiplied densely in every layer.'
CURE = 'Keep the adjacency as a sparse tensor.'
KIND = 'time'
FAULT_LINES = ['dense = torch.zeros(n, n)', 'return dense', 'return self.lin(adj @ x) + self.skip(x)']
FAULT_CALLS = ['matmul', 'mm', 'backward', 'normalised_adjacency', '__matmul__']
FAULTY = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

PAPERS, TOPICS, WORDS, LINKS = 2600, 7, 500, 5


def make_graph():
    topic = torch.randint(0, TOPICS, (PAPERS,))
    src = torch.arange(PAPERS).repeat_interleave(LINKS)
    dst = torch.randint(0, PAPERS, (len(src),))
    by_topic = [torch.nonzero(topic == c).squeeze(1) for c in range(TOPICS)]
    for c in range(TOPICS):
        own = (topic[src] == c) & (torch.rand(len(src)) < 0.6)
        dst[own] = by_topic[c][torch.randint(0, len(by_topic[c]), (int(own.sum()),))]
    keep = src != dst
    edges = torch.stack([src[keep], dst[keep]])
    profile = torch.rand(TOPICS, WORDS) * 0.05 + 0.02
    words = (torch.rand(PAPERS, WORDS) < profile[topic]).float()
    return words, topic, edges


def normalised_adjacency(edges, n):
    loops = torch.arange(n).repeat(2, 1)
    both = torch.cat([edges, edges.flip(0), loops], dim=1)
    both = torch.unique(both, dim=1)
    degree = torch.bincount(both[0], minlength=n).float()
    weight = degree[both[0]].rsqrt() * degree[both[1]].rsqrt()
    dense = torch.zeros(n, n)
    dense[both[0], both[1]] = weight
    return dense


class GraphConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)
        self.skip = nn.Linear(cin, cout, bias=False)

    def forward(self, adj, x):
        return self.lin(adj @ x) + self.skip(x)


class GCN(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(WORDS, hidden), nn.ReLU(), nn.Dropout(0.4))
        self.conv1 = GraphConv(hidden, hidden)
        self.conv2 = GraphConv(hidden, TOPICS)

    def forward(self, adj, x):
        h = self.embed(x)
        h = F.relu(self.conv1(adj, h))
        h = F.dropout(h, 0.4, self.training)
        return self.conv2(adj, h)


words, topic, edges = make_graph()
adj = normalised_adjacency(edges, PAPERS)
order = torch.randperm(PAPERS)
train_idx, val_idx, test_idx = order[:400], order[400:800], order[800:]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
best_val, best_test = 0.0, 0.0

for epoch in range(1, 161):
    model.train()
    loss = F.cross_entropy(model(adj, words)[train_idx], topic[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            hit = (model(adj, words).argmax(1) == topic).float()
        val, test = hit[val_idx].mean().item(), hit[test_idx].mean().item()
        if val > best_val:
            best_val, best_test = val, test
    if epoch % 40 == 0:
        print(f"epoch {epoch}: loss {loss.item():.2f}")

print(f"best validation accuracy {best_val:.2f}, test accuracy {best_test:.2f}")
"""
CURED = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

PAPERS, TOPICS, WORDS, LINKS = 2600, 7, 500, 5


def make_graph():
    topic = torch.randint(0, TOPICS, (PAPERS,))
    src = torch.arange(PAPERS).repeat_interleave(LINKS)
    dst = torch.randint(0, PAPERS, (len(src),))
    by_topic = [torch.nonzero(topic == c).squeeze(1) for c in range(TOPICS)]
    for c in range(TOPICS):
        own = (topic[src] == c) & (torch.rand(len(src)) < 0.6)
        dst[own] = by_topic[c][torch.randint(0, len(by_topic[c]), (int(own.sum()),))]
    keep = src != dst
    edges = torch.stack([src[keep], dst[keep]])
    profile = torch.rand(TOPICS, WORDS) * 0.05 + 0.02
    words = (torch.rand(PAPERS, WORDS) < profile[topic]).float()
    return words, topic, edges


def normalised_adjacency(edges, n):
    loops = torch.arange(n).repeat(2, 1)
    both = torch.cat([edges, edges.flip(0), loops], dim=1)
    both = torch.unique(both, dim=1)
    degree = torch.bincount(both[0], minlength=n).float()
    weight = degree[both[0]].rsqrt() * degree[both[1]].rsqrt()
    return torch.sparse_coo_tensor(both, weight, (n, n), check_invariants=True).coalesce()


class GraphConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)
        self.skip = nn.Linear(cin, cout, bias=False)

    def forward(self, adj, x):
        return self.lin(adj @ x) + self.skip(x)


class GCN(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(WORDS, hidden), nn.ReLU(), nn.Dropout(0.4))
        self.conv1 = GraphConv(hidden, hidden)
        self.conv2 = GraphConv(hidden, TOPICS)

    def forward(self, adj, x):
        h = self.embed(x)
        h = F.relu(self.conv1(adj, h))
        h = F.dropout(h, 0.4, self.training)
        return self.conv2(adj, h)


words, topic, edges = make_graph()
adj = normalised_adjacency(edges, PAPERS)
order = torch.randperm(PAPERS)
train_idx, val_idx, test_idx = order[:400], order[400:800], order[800:]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
best_val, best_test = 0.0, 0.0

for epoch in range(1, 161):
    model.train()
    loss = F.cross_entropy(model(adj, words)[train_idx], topic[train_idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            hit = (model(adj, words).argmax(1) == topic).float()
        val, test = hit[val_idx].mean().item(), hit[test_idx].mean().item()
        if val > best_val:
            best_val, best_test = val, test
    if epoch % 40 == 0:
        print(f"epoch {epoch}: loss {loss.item():.2f}")

print(f"best validation accuracy {best_val:.2f}, test accuracy {best_test:.2f}")
"""
