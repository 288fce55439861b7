NAME = 'Trains a 1-d CNN for heartbeat classification from compressed npz shards, read sequentially.'
FAULT = 'Each __getitem__ opens its shard and decompresses the whole signal array to take a single row.'
CURE = "Keep the current shard's arrays in memory (an lru_cache of size 1 on the loading function), since the reading order goes shard by shard."
KIND = 'time'
FAULT_LINES = ['signals, beats = read_shard(self.files[shard])', 'return blob["signals"], blob["beats"]', 'with np.load(path) as blob:']
FAULT_CALLS = ['read_shard', 'load', '__getitem__', 'np.load', 'decompress']
FAULTY = r"""import tempfile
from pathlib import Path
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(6)
rng = np.random.default_rng(6)

PER_SHARD, SAMPLES, CLASSES = 96, 256, 4
folder = tempfile.TemporaryDirectory()


def write_shards(prefix, n_shards):
    t = np.linspace(0, 1, SAMPLES)
    paths = []
    for s in range(n_shards):
        beats = rng.integers(0, CLASSES, PER_SHARD)
        width = 0.02 + 0.015 * beats[:, None]
        centre = rng.uniform(0.35, 0.65, (PER_SHARD, 1))
        wave = np.exp(-((t - centre) / width) ** 2) - 0.3 * np.exp(-((t - centre - 0.1) / 0.05) ** 2)
        wave = wave + 0.15 * rng.standard_normal((PER_SHARD, SAMPLES))
        path = Path(folder.name) / f"{prefix}_{s:02d}.npz"
        np.savez_compressed(path, signals=np.round(wave, 2).astype(np.float32), beats=beats)
        paths.append(path)
    return paths


def read_shard(path):
    with np.load(path) as blob:
        return blob["signals"], blob["beats"]


class ShardedECG(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files) * PER_SHARD

    def __getitem__(self, i):
        shard, row = divmod(i, PER_SHARD)
        signals, beats = read_shard(self.files[shard])
        x = torch.from_numpy(signals[row]).unsqueeze(0)
        return (x - x.mean()) / x.std(), int(beats[row])


def conv(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(), nn.MaxPool1d(2))


model = nn.Sequential(conv(1, 32), conv(32, 64), conv(64, 64), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, CLASSES))
train_loader = DataLoader(ShardedECG(write_shards("train", 20)), batch_size=32)
test_loader = DataLoader(ShardedECG(write_shards("test", 4)), batch_size=64)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(3):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: loss {total / len(train_loader.dataset):.4f}, test accuracy {correct / len(test_loader.dataset):.3f}")

folder.cleanup()
"""
CURED = r"""import tempfile
from functools import lru_cache
from pathlib import Path
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(6)
rng = np.random.default_rng(6)

PER_SHARD, SAMPLES, CLASSES = 96, 256, 4
folder = tempfile.TemporaryDirectory()


def write_shards(prefix, n_shards):
    t = np.linspace(0, 1, SAMPLES)
    paths = []
    for s in range(n_shards):
        beats = rng.integers(0, CLASSES, PER_SHARD)
        width = 0.02 + 0.015 * beats[:, None]
        centre = rng.uniform(0.35, 0.65, (PER_SHARD, 1))
        wave = np.exp(-((t - centre) / width) ** 2) - 0.3 * np.exp(-((t - centre - 0.1) / 0.05) ** 2)
        wave = wave + 0.15 * rng.standard_normal((PER_SHARD, SAMPLES))
        path = Path(folder.name) / f"{prefix}_{s:02d}.npz"
        np.savez_compressed(path, signals=np.round(wave, 2).astype(np.float32), beats=beats)
        paths.append(path)
    return paths


@lru_cache(maxsize=1)
def read_shard(path):
    with np.load(path) as blob:
        return blob["signals"], blob["beats"]


class ShardedECG(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files) * PER_SHARD

    def __getitem__(self, i):
        shard, row = divmod(i, PER_SHARD)
        signals, beats = read_shard(self.files[shard])
        x = torch.from_numpy(signals[row]).unsqueeze(0)
        return (x - x.mean()) / x.std(), int(beats[row])


def conv(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(), nn.MaxPool1d(2))


model = nn.Sequential(conv(1, 32), conv(32, 64), conv(64, 64), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, CLASSES))
train_loader = DataLoader(ShardedECG(write_shards("train", 20)), batch_size=32)
test_loader = DataLoader(ShardedECG(write_shards("test", 4)), batch_size=64)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(3):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: loss {total / len(train_loader.dataset):.4f}, test accuracy {correct / len(test_loader.dataset):.3f}")

folder.cleanup()
"""
