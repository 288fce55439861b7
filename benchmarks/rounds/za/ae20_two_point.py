NAME = "Cosmology: measures the two-point correlation function of clustered mock boxes by pair counts and regresses the clustering strength from it with an MLP ensemble."
FAULT = "The pair counts build the full N x N x 3 tensor of separations (and several temporaries of that size) at once."
CURE = "Go over blocks of 200 points against all points and add up the histograms."
KIND = "memory"
FAULT_LINES = [
    "d = pos[:, None, :] - pos[None, :, :]",
    "d = d - BOX * torch.round(d / BOX)",
    "r = d.pow(2).sum(-1).sqrt()",
    "dd = pair_counts(pos)",
]
FAULT_CALLS = ["sub", "round", "div", "mul", "pow", "sum", "pair_counts", "rsub", "__sub__"]
FAULTY = r'''
import math
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(17)
rng = np.random.default_rng(17)

BOX, N_GAL, N_BINS, R_MAX = 200.0, 4500, 16, 24.0
EDGES = torch.linspace(0.0, R_MAX, N_BINS + 1)
SHELL = 4 / 3 * math.pi * (EDGES[1:] ** 3 - EDGES[:-1] ** 3)


def mock_box(strength):
    """Poisson cluster process: a share `strength` of galaxies sits in haloes."""
    n_cl = int(N_GAL * strength)
    centres = rng.uniform(0, BOX, (150, 3))
    clustered = centres[rng.integers(0, 150, n_cl)] + rng.normal(0, 5.0, (n_cl, 3))
    field = rng.uniform(0, BOX, (N_GAL - n_cl, 3))
    pts = np.concatenate([clustered, field]) % BOX
    return torch.from_numpy(pts.astype(np.float32))


def pair_counts(pos):
    d = pos[:, None, :] - pos[None, :, :]
    d = d - BOX * torch.round(d / BOX)
    r = d.pow(2).sum(-1).sqrt()
    hist = torch.histc(r, bins=N_BINS, min=0.0, max=R_MAX)
    hist[0] -= len(pos)          # self pairs
    return hist


def correlation(pos):
    dd = pair_counts(pos)
    n = len(pos)
    expected = n * (n - 1) / BOX ** 3 * SHELL
    return dd / expected - 1


strengths = rng.uniform(0.05, 0.6, 12)
xi = torch.stack([correlation(mock_box(s)) for s in strengths])
print("xi of the first box:", [round(v, 2) for v in xi[0, :5].tolist()])

x = torch.log1p(xi.clamp(min=-0.9))
mean, std = x.mean(0), x.std(0)
x = (x - mean) / std
y = torch.from_numpy(strengths.astype(np.float32))[:, None]
train = slice(0, 9)


class Emulator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N_BINS, 48), nn.SiLU(),
                                 nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))

    def forward(self, v):
        return torch.sigmoid(self.net(v))


def fit(seed):
    torch.manual_seed(seed)
    m = Emulator()
    opt = torch.optim.Adam(m.parameters(), lr=5e-3, weight_decay=1e-4)
    for _ in range(300):
        noisy = x[train] + 0.1 * torch.randn_like(x[train])
        loss = (m(noisy) - y[train]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m


ensemble = [fit(s) for s in range(4)]
with torch.no_grad():
    preds = torch.stack([m(x[9:]) for m in ensemble])
for true, p, s in zip(strengths[9:], preds.mean(0), preds.std(0)):
    print(f"true {true:.3f}   inferred {p.item():.3f} +- {s.item():.3f}")
'''
CURED = FAULTY.replace('''    d = pos[:, None, :] - pos[None, :, :]
    d = d - BOX * torch.round(d / BOX)
    r = d.pow(2).sum(-1).sqrt()
    hist = torch.histc(r, bins=N_BINS, min=0.0, max=R_MAX)
''', '''    hist = torch.zeros(N_BINS)
    for block in pos.split(200):
        d = block[:, None, :] - pos[None, :, :]
        d = d - BOX * torch.round(d / BOX)
        r = d.pow(2).sum(-1).sqrt()
        hist += torch.histc(r, bins=N_BINS, min=0.0, max=R_MAX)
''')
