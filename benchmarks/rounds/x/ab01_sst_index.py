NAME = "Forecasts a regional sea-surface-temperature index six steps ahead from twelve past maps with a small 2-D ConvNet."
FAULT = "All overlapping twelve-map windows are copied out into one big array (each map is stored twelve times) though a batch can be indexed from the field itself."
CURE = "Keep only the field and index each batch's windows from it with start + lag indices."
KIND = "memory"
FAULT_LINES = [
    "windows = np.stack([anom[t:t + LAGS] for t in starts])",
    "X = torch.from_numpy(windows)",
]
FAULT_CALLS = ["stack", "np.stack", "numpy.stack", "concatenate", "<listcomp>", "build_samples"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

N_STEPS, NLAT, NLON = 2600, 48, 96
LAGS, LEAD = 12, 6


def make_sst():
    """Seasonal cycle + travelling waves + red noise on a coarse ocean grid."""
    lat = np.linspace(-60, 60, NLAT, dtype=np.float32)[:, None]
    lon = np.linspace(0, 2 * np.pi, NLON, endpoint=False, dtype=np.float32)[None, :]
    base = 28 - 0.006 * lat ** 2
    sst = np.empty((N_STEPS, NLAT, NLON), dtype=np.float32)
    noise = np.zeros((NLAT, NLON), dtype=np.float32)
    enso = 0.0
    for t in range(N_STEPS):
        enso = 0.97 * enso + 0.25 * rng.standard_normal()
        noise = 0.8 * noise + 0.3 * rng.standard_normal((NLAT, NLON), dtype=np.float32)
        season = 4 * np.sin(2 * np.pi * t / 73) * np.sign(lat) * np.abs(lat) / 60
        wave = enso * np.cos(lon - 0.02 * t) * np.exp(-(lat / 15) ** 2)
        sst[t] = base + season + wave + noise
    return sst


def remove_climatology(sst, period=73):
    phase = np.arange(len(sst)) % period
    for p in range(period):
        sst[phase == p] -= sst[phase == p].mean(axis=0)
    sst /= sst.std()
    return sst


def build_samples(anom):
    starts = np.arange(len(anom) - LAGS - LEAD)
    box = anom[:, 20:28, 30:50].mean(axis=(1, 2))
    windows = np.stack([anom[t:t + LAGS] for t in starts])
    X = torch.from_numpy(windows)
    y = torch.from_numpy(box[starts + LAGS + LEAD - 1])
    return X, y


class IndexNet(nn.Module):
    def __init__(self, lags, width=24):
        super().__init__()
        self.c1 = nn.Conv2d(lags, width, 5, stride=2, padding=2)
        self.c2 = nn.Conv2d(width, width * 2, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(width * 2, width * 2, 3, stride=2, padding=1)
        self.out = nn.Linear(width * 2 * 6 * 12, 1)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.out(x.flatten(1)).squeeze(1)


anom = remove_climatology(make_sst())
X, y = build_samples(anom)
n_train = int(0.8 * len(y))
print(f"{len(y)} samples, {n_train} for training")

net = IndexNet(LAGS)
opt = torch.optim.AdamW(net.parameters(), lr=5e-4, weight_decay=1e-2)

for epoch in range(3):
    net.train()
    perm = torch.randperm(n_train)
    total = 0.0
    for idx in perm.split(64):
        loss = F.mse_loss(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)

    net.eval()
    with torch.no_grad():
        test = torch.arange(n_train, len(y))
        pred = torch.cat([net(X[idx]) for idx in test.split(64)])
    r = np.corrcoef(pred.numpy(), y[n_train:].numpy())[0, 1]
    print(f"epoch {epoch}  train mse {total / n_train:.4f}  test corr {r:.3f}")
'''
CURED = (FAULTY
    .replace("    windows = np.stack([anom[t:t + LAGS] for t in starts])\n    X = torch.from_numpy(windows)\n",
             "    X = torch.from_numpy(anom)\n")
    .replace("n_train = int(", "lags = torch.arange(LAGS)\nn_train = int(")
    .replace("net(X[idx])", "net(X[idx[:, None] + lags])"))
