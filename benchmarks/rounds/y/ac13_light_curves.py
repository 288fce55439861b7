NAME = "Classifies variable stars from irregular light curves with a 1-D CNN on their periodograms."
FAULT = "The periodogram of every star is computed anew in __getitem__ on every epoch, although times and magnitudes never change (only the noise added afterwards does)."
CURE = "Compute the periodograms once in __init__ and look them up in __getitem__."
KIND = "time"
FAULT_LINES = ["power = self.spectrum(i)", "def spectrum(self, i):", "arg = self.omega[:, None] * t[None, :]", "c, s = np.cos(arg), np.sin(arg)", "def __getitem__(self, i):"]
FAULT_CALLS = ["spectrum", "__getitem__", "cos", "sin", "fetch"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
np.random.seed(3)
rng = np.random.default_rng(3)

CLASSES = ["RRab", "Cepheid", "EB", "const"]


def simulate_star(kind):
    n = 160
    t = np.sort(rng.uniform(0, 60, n))
    noise = rng.normal(0, 0.25, n)
    period = {0: rng.uniform(0.45, 0.8), 1: rng.uniform(3, 12), 2: rng.uniform(0.8, 3), 3: 1.0}[kind]
    ph = 2 * np.pi * (t / period + rng.uniform())
    if kind == 0:
        m = 0.5 * np.sin(ph) + 0.25 * np.sin(2 * ph + 0.6) + 0.12 * np.sin(3 * ph + 1.1)
    elif kind == 1:
        m = 0.5 * np.sin(ph) + 0.15 * np.sin(2 * ph + 1.0)
    elif kind == 2:
        m = -0.6 * np.exp(-((np.mod(ph, 2 * np.pi) - np.pi) ** 2) / 0.15)
    else:
        m = np.zeros(n)
    return t, m + noise


class SurveyDataset(Dataset):
    """One row per star: normalised periodogram + class label."""

    def __init__(self, stars, labels, n_freq=360, train=True):
        self.stars = stars
        self.labels = labels
        self.train = train
        self.omega = 2 * np.pi * np.linspace(0.05, 3.0, n_freq)

    def __len__(self):
        return len(self.stars)

    def spectrum(self, i):
        t, m = self.stars[i]
        m = m - m.mean()
        arg = self.omega[:, None] * t[None, :]
        c, s = np.cos(arg), np.sin(arg)
        p = (c @ m) ** 2 / (c * c).sum(1) + (s @ m) ** 2 / (s * s).sum(1)
        return (p / (m @ m)).astype(np.float32)

    def __getitem__(self, i):
        power = self.spectrum(i)
        x = torch.from_numpy(power)
        if self.train:
            x = x + 0.01 * torch.randn_like(x)
        return x[None], self.labels[i]


class SpecNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(6))
        self.head = nn.Linear(64 * 6, n_out)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def accuracy(model, loader):
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for x, y in loader:
            ok += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    return ok / n


labels = rng.integers(0, 4, 620)
stars = [simulate_star(k) for k in labels]
train_ds = SurveyDataset(stars[:500], labels[:500], train=True)
test_ds = SurveyDataset(stars[500:], labels[500:], train=False)
train_dl = DataLoader(train_ds, batch_size=50, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=120)

model = SpecNet(len(CLASSES))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
EPOCHS = 6
for epoch in range(EPOCHS):
    model.train()
    tot = 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(y)
    print(f"epoch {epoch} loss {tot / len(train_ds):.4f}")
print("test accuracy", round(accuracy(model, test_dl), 3))
'''
CURED = FAULTY.replace(
    "        self.omega = 2 * np.pi * np.linspace(0.05, 3.0, n_freq)\n",
    "        self.omega = 2 * np.pi * np.linspace(0.05, 3.0, n_freq)\n        self.power = [self.spectrum(i) for i in range(len(stars))]\n",
).replace("power = self.spectrum(i)", "power = self.power[i]")
