NAME = "Trains a message-passing network that predicts per-residue solvent exposure from radius graphs of synthetic protein chains."
FAULT = "Messages are summed per residue by building a dense residues-by-edges indicator matrix and multiplying with it, which costs N*E*D instead of E*D."
CURE = "Sum the messages with scatter-add (index_add / scatter_add) over the destination index."
KIND = "time"
FAULT_LINES = [
    "member = (torch.arange(h.shape[0])[:, None] == dst[None, :]).float()",
    "agg = member @ m",
]
FAULT_CALLS = ["mm", "matmul", "MmBackward0", "eq", "ContactLayer.forward"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

N_TYPES, RADIUS = 20, 7.5


def fold_chain(n):
    """A compact random walk with steps of 3.8 Angstrom: a stand-in for C-alpha traces."""
    xyz = np.zeros((n, 3))
    for i in range(1, n):
        step = rng.standard_normal(3) - 0.02 * xyz[i - 1]
        xyz[i] = xyz[i - 1] + 3.8 * step / np.linalg.norm(step)
    return torch.tensor(xyz, dtype=torch.float32)


def make_protein(n):
    xyz = fold_chain(n)
    kind = torch.from_numpy(rng.integers(0, N_TYPES, n))
    dist = torch.cdist(xyz, xyz)
    dist.fill_diagonal_(float("inf"))
    src, dst = (dist < RADIUS).nonzero(as_tuple=True)
    gap = (src - dst).abs().clamp(max=32).float() / 32
    centers = torch.linspace(2, RADIUS, 8)
    rbf = torch.exp(-(dist[src, dst][:, None] - centers) ** 2)
    edge = torch.cat([rbf, gap[:, None]], dim=1)
    crowd = (dist < 12).sum(1).float()
    exposure = torch.exp(-crowd / 30) * (1 + 0.2 * torch.sin(kind.float()))
    return {"kind": kind, "src": src, "dst": dst, "edge": edge, "y": exposure}


class ContactLayer(nn.Module):
    def __init__(self, dim, edge_dim=9):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(2 * dim + edge_dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.upd = nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.norm = nn.LayerNorm(dim)

    def forward(self, h, src, dst, edge):
        m = self.msg(torch.cat([h[src], h[dst], edge], dim=1))
        member = (torch.arange(h.shape[0])[:, None] == dst[None, :]).float()
        agg = member @ m
        return self.norm(h + self.upd(torch.cat([h, agg / 10], dim=1)))


class ExposureNet(nn.Module):
    def __init__(self, dim=64, layers=3):
        super().__init__()
        self.embed = nn.Embedding(N_TYPES, dim)
        self.layers = nn.ModuleList(ContactLayer(dim) for _ in range(layers))
        self.read = nn.Linear(dim, 1)

    def forward(self, p):
        h = self.embed(p["kind"])
        for layer in self.layers:
            h = layer(h, p["src"], p["dst"], p["edge"])
        return self.read(h).squeeze(-1)


proteins = [make_protein(int(n)) for n in rng.integers(250, 420, 22)]
train, test = proteins[:18], proteins[18:]
print("edges per protein:", int(np.mean([len(p["src"]) for p in proteins])))

model = ExposureNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    losses = []
    for k in rng.permutation(len(train)):
        p = train[k]
        loss = nn.functional.mse_loss(model(p), p["y"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 2 == 1:
        with torch.no_grad():
            err = np.mean([(model(p) - p["y"]).abs().mean().item() for p in test])
        print(f"epoch {epoch}: mse {np.mean(losses):.3f}  test mae {err:.2f}")
'''
CURED = FAULTY.replace('''        member = (torch.arange(h.shape[0])[:, None] == dst[None, :]).float()
        agg = member @ m
''', '''        agg = torch.zeros_like(h).scatter_add(0, dst[:, None].expand_as(m), m)
''')
