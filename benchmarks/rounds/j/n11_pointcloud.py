NAME = 'Trains a dynamic graph network on point clouds; the neighbour graph is made anew in each layer.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
torch.set_num_threads(1)

# spheres, boxes, tori and cylinders, each as 256 points
P, K = 256, 12


def cloud(kind):
    u, v = torch.rand(2, P) * 2 * torch.pi
    if kind == 0:
        x = F.normalize(torch.randn(P, 3), dim=1)
    elif kind == 1:
        x = torch.rand(P, 3) * 2 - 1
        ax = torch.randint(0, 3, (P, 1))
        x = x.scatter(1, ax, x.gather(1, ax).sign())
    elif kind == 2:
        r = 1 + 0.35 * torch.cos(v)
        x = torch.stack([r * torch.cos(u), r * torch.sin(u), 0.35 * torch.sin(v)], 1)
    else:
        x = torch.stack([torch.cos(u), torch.sin(u), v / torch.pi - 1], 1)
    q, _ = torch.linalg.qr(torch.randn(3, 3))
    return (x @ q) + 0.02 * torch.randn(P, 3)


y = torch.randint(0, 4, (480,))
X = torch.stack([cloud(int(c)) for c in y])


@torch.no_grad()
def neighbours(x):
    sq = (x * x).sum(-1)
    d = torch.baddbmm(sq[:, None, :], x, x.transpose(1, 2), alpha=-2)   # row constant left out
    return d.topk(K, dim=-1, largest=False, sorted=False).indices


class EdgeConv(nn.Module):
    '''max over neighbours of W [x_i, x_j - x_i]; the neighbours are those in the current features'''
    def __init__(self, cin, cout):
        super().__init__()
        self.own, self.other = nn.Linear(cin, cout), nn.Linear(cin, cout, bias=False)

    def forward(self, x):
        idx = neighbours(x)
        b, n, _ = x.shape
        flat = (idx + torch.arange(b)[:, None, None] * n).view(-1)
        o = self.other(x).view(b * n, -1)
        best = o.index_select(0, flat).view(b, n, K, -1).max(2).values
        return F.leaky_relu(self.own(x) + best, 0.1)


class DGCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.e1, self.e2, self.e3 = EdgeConv(3, 32), EdgeConv(32, 32), EdgeConv(32, 64)
        self.head = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))

    def forward(self, x):
        a = self.e1(x)
        b = self.e2(a)
        c = self.e3(b)
        return self.head(torch.cat([a, b, c], -1).amax(1))


net = DGCNN()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(5):
    total = 0.0
    for idx in torch.randperm(400).split(20):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        out = torch.cat([net(q) for q in X[400:].split(20)])
    acc = (out.argmax(1) == y[400:]).float().mean().item()
    print(f"epoch {epoch} loss {total / 20:.4f} val acc {acc:.3f}")
"""
