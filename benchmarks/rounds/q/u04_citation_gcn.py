NAME = 'Trains a two-layer graph convolutional network on a made-up citation graph.'
FAULT = 'The normalised adjacency of a graph with about ten neighbours per node is kept as a dense N x N matrix and multiplied densely in every layer.'
CURE = 'Keep the normalised adjacency as a sparse CSR matrix.'
KIND = 'time'
FAULT_LINES = ['adj = torch.zeros(n, n)', 'return inv_sqrt[:, None] * adj * inv_sqrt[None, :]', 'h = F.relu(a_hat @ self.w1(x))', 'return a_hat @ self.w2(h)']
FAULT_CALLS = ['matmul', 'mm', '__matmul__', 'backward']
FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

N, CLASSES, N_WORDS, HIDDEN = 4000, 7, 700, 128


def make_graph(n):
    label = torch.randint(0, CLASSES, (n,))
    src = torch.randint(0, n, (8 * n,))
    dst = torch.randint(0, n, (8 * n,))
    keep = (label[src] == label[dst]) | (torch.rand(8 * n) < 0.35)
    src, dst = src[keep], dst[keep]
    words = torch.rand(n, N_WORDS) < 0.02
    topic_words = torch.rand(CLASSES, N_WORDS) < 0.05
    words |= topic_words[label] & (torch.rand(n, N_WORDS) < 0.15)
    x = words.float()
    return x / x.sum(1, keepdim=True).clamp(min=1), label, torch.stack([src, dst])


def normalised_adjacency(edges, n):
    adj = torch.zeros(n, n)
    adj[edges[0], edges[1]] = 1.0
    adj[edges[1], edges[0]] = 1.0
    adj.fill_diagonal_(1.0)
    inv_sqrt = adj.sum(1).rsqrt()
    return inv_sqrt[:, None] * adj * inv_sqrt[None, :]


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(N_WORDS, HIDDEN, bias=False)
        self.w2 = nn.Linear(HIDDEN, CLASSES, bias=False)

    def forward(self, x, a_hat):
        h = F.relu(a_hat @ self.w1(x))
        h = F.dropout(h, 0.5, self.training)
        return a_hat @ self.w2(h)


x, label, edges = make_graph(N)
a_hat = normalised_adjacency(edges, N)
split = torch.randperm(N)
train, val, test = split[:800], split[800:1600], split[1600:]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for step in range(70):
    model.train()
    out = model(x, a_hat)
    loss = F.cross_entropy(out[train], label[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            pred = model(x, a_hat).argmax(1)
        acc = (pred[val] == label[val]).float().mean().item()
        print(f"step {step + 1:3d}  loss {loss.item():.4f}  val acc {acc:.3f}")

model.eval()
with torch.no_grad():
    pred = model(x, a_hat).argmax(1)
print(f"test acc {(pred[test] == label[test]).float().mean().item():.3f}")
'''
CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

N, CLASSES, N_WORDS, HIDDEN = 4000, 7, 700, 128


def make_graph(n):
    label = torch.randint(0, CLASSES, (n,))
    src = torch.randint(0, n, (8 * n,))
    dst = torch.randint(0, n, (8 * n,))
    keep = (label[src] == label[dst]) | (torch.rand(8 * n) < 0.35)
    src, dst = src[keep], dst[keep]
    words = torch.rand(n, N_WORDS) < 0.02
    topic_words = torch.rand(CLASSES, N_WORDS) < 0.05
    words |= topic_words[label] & (torch.rand(n, N_WORDS) < 0.15)
    x = words.float()
    return x / x.sum(1, keepdim=True).clamp(min=1), label, torch.stack([src, dst])


def normalised_adjacency(edges, n):
    adj = torch.zeros(n, n)
    adj[edges[0], edges[1]] = 1.0
    adj[edges[1], edges[0]] = 1.0
    adj.fill_diagonal_(1.0)
    inv_sqrt = adj.sum(1).rsqrt()
    return (inv_sqrt[:, None] * adj * inv_sqrt[None, :]).to_sparse_csr()


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(N_WORDS, HIDDEN, bias=False)
        self.w2 = nn.Linear(HIDDEN, CLASSES, bias=False)

    def forward(self, x, a_hat):
        h = F.relu(a_hat @ self.w1(x))
        h = F.dropout(h, 0.5, self.training)
        return a_hat @ self.w2(h)


x, label, edges = make_graph(N)
a_hat = normalised_adjacency(edges, N)
split = torch.randperm(N)
train, val, test = split[:800], split[800:1600], split[1600:]

model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for step in range(70):
    model.train()
    out = model(x, a_hat)
    loss = F.cross_entropy(out[train], label[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            pred = model(x, a_hat).argmax(1)
        acc = (pred[val] == label[val]).float().mean().item()
        print(f"step {step + 1:3d}  loss {loss.item():.4f}  val acc {acc:.3f}")

model.eval()
with torch.no_grad():
    pred = model(x, a_hat).argmax(1)
print(f"test acc {(pred[test] == label[test]).float().mean().item():.3f}")
'''
