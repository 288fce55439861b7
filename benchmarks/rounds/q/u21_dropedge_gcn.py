NAME = 'Trains a graph convolutional network with DropEdge on a made-up co-purchase graph.'
FAULT = None
CURE = None
KIND = None
WHY = 'The normalised adjacency is rebuilt in every training step, but DropEdge draws another set of edges each time, and the rebuild is cheap beside the layers.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore", message="Sparse")
torch.set_num_threads(1)
torch.manual_seed(80)

N, FEATURES, HIDDEN, CLASSES = 5000, 400, 192, 9


def make_graph():
    label = torch.randint(0, CLASSES, (N,))
    src, dst = torch.randint(0, N, (2, 12 * N))
    keep = (label[src] == label[dst]) | (torch.rand(12 * N) < 0.25)
    src, dst = src[keep], dst[keep]
    both = torch.cat([src * N + dst, dst * N + src]).unique()
    centre = torch.randn(CLASSES, FEATURES)
    x = 0.15 * centre[label] + 1.6 * torch.randn(N, FEATURES)
    return x, label, both // N, both % N


def normalised(rows, cols):
    loops = torch.arange(N)
    order = torch.cat([rows * N + cols, loops * N + loops]).sort().values
    rows, cols = order // N, order % N
    degree = torch.bincount(rows, minlength=N)
    crow = torch.cat([torch.zeros(1, dtype=torch.long), degree.cumsum(0)])
    inv = degree.float().rsqrt()
    return torch.sparse_csr_tensor(crow, cols, inv[rows] * inv[cols], (N, N))


def drop_edges(rows, cols, rate):
    upper = rows < cols
    r, c = rows[upper], cols[upper]
    keep = torch.rand(len(r)) >= rate
    r, c = r[keep], c[keep]
    return normalised(torch.cat([r, c]), torch.cat([c, r]))


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.lins = nn.ModuleList([nn.Linear(FEATURES, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, CLASSES)])

    def forward(self, x, a):
        for i, lin in enumerate(self.lins):
            x = a @ lin(x)
            if i < 2:
                x = F.dropout(F.relu(x), 0.3, self.training)
        return x


x, label, rows, cols = make_graph()
full = normalised(rows, cols)
perm = torch.randperm(N)
train, val = perm[:1500], perm[1500:3000]
model = GCN()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-3)

for step in range(1, 91):
    model.train()
    out = model(x, drop_edges(rows, cols, 0.4))
    loss = F.cross_entropy(out[train], label[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x, full).argmax(1)[val] == label[val]).float().mean().item()
        print(f"step {step:3d}  loss {loss.item():.4f}  val acc {acc:.4f}")
'''
