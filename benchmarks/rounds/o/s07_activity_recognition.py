NAME = 'Human activity recognition from wearable sensors with a 1-D CNN'
FAULT = "The Dataset keeps the lazy NpzFile and indexes it in __getitem__; every access self.archive['signals'] reads and decompresses the whole array from the archive again"
CURE = 'Read the arrays once in __init__ (a dict of arrays)'
KIND = 'time'
FAULT_LINES = ['self.archive = np.load(path)', 'sig = self.archive["signals"][i]', 'lab = self.archive["labels"][i]']
FAULT_CALLS = ['np.load', 'NpzFile.__getitem__', '__getitem__', 'zlib decompress', 'read_array']
FAULTY = r"""
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, Subset

torch.set_num_threads(1)
torch.manual_seed(42)

ACTIVITIES = ["walk", "run", "stairs", "sit", "cycle"]
CHANNELS, LENGTH = 6, 96


def record_session(n, seed=42):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / 50.0
    y = rng.integers(0, len(ACTIVITIES), n)
    freq = np.array([1.8, 2.9, 1.5, 0.2, 1.1])[y]
    amp = np.array([1.0, 2.2, 1.3, 0.1, 0.8])[y]
    phase = rng.uniform(0, 2 * np.pi, (n, CHANNELS))
    gain = rng.uniform(0.5, 1.5, (n, CHANNELS))
    wave = np.sin(2 * np.pi * freq[:, None, None] * t + phase[:, :, None])
    x = amp[:, None, None] * gain[:, :, None] * wave + rng.normal(0, 0.7, (n, CHANNELS, LENGTH))
    x = np.round(x, 2)
    return x.astype(np.float32), y.astype(np.int64)


class WearableDataset(Dataset):
    "Windows of accelerometer and gyroscope data, z-scored per channel."

    def __init__(self, path):
        self.archive = np.load(path)
        self.mean = self.archive["mean"]
        self.std = self.archive["std"]
        self.size = len(self.archive["labels"])

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        sig = self.archive["signals"][i]
        lab = self.archive["labels"][i]
        sig = (sig - self.mean[:, None]) / self.std[:, None]
        return torch.from_numpy(sig), int(lab)


class HARNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(CHANNELS, 64, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(64, 128, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(128, 128, 3, padding=1), nn.ReLU())
        self.out = nn.Sequential(nn.Dropout(0.3), nn.Linear(128, n_classes))

    def forward(self, x):
        return self.out(self.conv(x).mean(-1))


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    seen = right = 0
    loss_sum = 0.0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            loss_sum += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            seen += len(y)
    return loss_sum / seen, right / seen


with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "session01.npz")
    X, y = record_session(360)
    np.savez_compressed(path, signals=X, labels=y, mean=X.mean((0, 2)), std=X.std((0, 2)))
    data = WearableDataset(path)
    order = np.random.default_rng(1).permutation(len(data))
    train = DataLoader(Subset(data, order[:280].tolist()), batch_size=40, shuffle=True)
    valid = DataLoader(Subset(data, order[280:].tolist()), batch_size=80)
    model = HARNet(len(ACTIVITIES))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        tr = run_epoch(model, train, opt)
        va = run_epoch(model, valid)
        print(f"{epoch + 1}: train loss {tr[0]:.4f} acc {tr[1]:.3f} | valid loss {va[0]:.4f} acc {va[1]:.3f}")
"""
CURED = r"""
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader, Subset

torch.set_num_threads(1)
torch.manual_seed(42)

ACTIVITIES = ["walk", "run", "stairs", "sit", "cycle"]
CHANNELS, LENGTH = 6, 96


def record_session(n, seed=42):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / 50.0
    y = rng.integers(0, len(ACTIVITIES), n)
    freq = np.array([1.8, 2.9, 1.5, 0.2, 1.1])[y]
    amp = np.array([1.0, 2.2, 1.3, 0.1, 0.8])[y]
    phase = rng.uniform(0, 2 * np.pi, (n, CHANNELS))
    gain = rng.uniform(0.5, 1.5, (n, CHANNELS))
    wave = np.sin(2 * np.pi * freq[:, None, None] * t + phase[:, :, None])
    x = amp[:, None, None] * gain[:, :, None] * wave + rng.normal(0, 0.7, (n, CHANNELS, LENGTH))
    x = np.round(x, 2)
    return x.astype(np.float32), y.astype(np.int64)


class WearableDataset(Dataset):
    "Windows of accelerometer and gyroscope data, z-scored per channel."

    def __init__(self, path):
        with np.load(path) as f:
            self.archive = {k: f[k] for k in f.files}
        self.mean = self.archive["mean"]
        self.std = self.archive["std"]
        self.size = len(self.archive["labels"])

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        sig = self.archive["signals"][i]
        lab = self.archive["labels"][i]
        sig = (sig - self.mean[:, None]) / self.std[:, None]
        return torch.from_numpy(sig), int(lab)


class HARNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(CHANNELS, 64, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(64, 128, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(128, 128, 3, padding=1), nn.ReLU())
        self.out = nn.Sequential(nn.Dropout(0.3), nn.Linear(128, n_classes))

    def forward(self, x):
        return self.out(self.conv(x).mean(-1))


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    seen = right = 0
    loss_sum = 0.0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            loss_sum += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            seen += len(y)
    return loss_sum / seen, right / seen


with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "session01.npz")
    X, y = record_session(360)
    np.savez_compressed(path, signals=X, labels=y, mean=X.mean((0, 2)), std=X.std((0, 2)))
    data = WearableDataset(path)
    order = np.random.default_rng(1).permutation(len(data))
    train = DataLoader(Subset(data, order[:280].tolist()), batch_size=40, shuffle=True)
    valid = DataLoader(Subset(data, order[280:].tolist()), batch_size=80)
    model = HARNet(len(ACTIVITIES))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        tr = run_epoch(model, train, opt)
        va = run_epoch(model, valid)
        print(f"{epoch + 1}: train loss {tr[0]:.4f} acc {tr[1]:.3f} | valid loss {va[0]:.4f} acc {va[1]:.3f}")
"""
