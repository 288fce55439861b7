NAME = 'Trains a small CNN on made-up leaf pictures that are stored as compressed .npz shards in a temporary folder.'
FAULT = 'Each __getitem__ opens its shard and unpacks all of its pictures to take a single one.'
CURE = 'Read every shard once in the constructor and index the arrays in memory.'
KIND = 'time'
FAULT_LINES = ['with np.load(self.paths[shard]) as z:', 'image = z["images"][row]', 'label = int(z["labels"][row])']
FAULT_CALLS = ['load', '__getitem__', 'read_array', 'read', 'decompress', '_read_bytes']

FAULTY = r'''
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(8)
rs = np.random.RandomState(8)

SIZE, PER_SHARD, CLASSES = 40, 100, 5


def draw_leaf(kind):
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    angle = rs.uniform(0, np.pi)
    u = np.cos(angle) * xx + np.sin(angle) * yy
    v = -np.sin(angle) * xx + np.cos(angle) * yy
    width = 0.25 + 0.08 * kind
    blade = (u ** 2 / 0.7 + (v / width) ** 2) < 1
    veins = np.sin((6 + 3 * kind) * u) > 0.6
    img = np.stack([0.2 + 0.2 * veins * blade, 0.3 + 0.4 * blade, 0.2 + 0.1 * blade])
    return np.clip(255 * (img + 0.02 * rs.randn(3, 1, 1)), 0, 255).round(-1).astype(np.uint8)


def write_shards(folder, count):
    paths = []
    for s in range(count):
        labels = rs.randint(0, CLASSES, PER_SHARD)
        images = np.stack([draw_leaf(k) for k in labels])
        paths.append(os.path.join(folder, f"leaves_{s:02d}.npz"))
        np.savez_compressed(paths[-1], images=images, labels=labels)
    return paths


class LeafDataset(Dataset):
    def __init__(self, paths, augment):
        self.paths = paths
        self.augment = augment

    def __len__(self):
        return len(self.paths) * PER_SHARD

    def __getitem__(self, i):
        shard, row = divmod(i, PER_SHARD)
        with np.load(self.paths[shard]) as z:
            image = z["images"][row]
            label = int(z["labels"][row])
        x = torch.from_numpy(image).float() / 255
        if self.augment and torch.rand(()) < 0.5:
            x = x.flip(2)
        return x, label


net = nn.Sequential(
    nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(48 * (SIZE // 4) ** 2, CLASSES))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

with tempfile.TemporaryDirectory() as folder:
    paths = write_shards(folder, 10)
    train_dl = DataLoader(LeafDataset(paths[:8], True), batch_size=32, shuffle=True)
    valid_dl = DataLoader(LeafDataset(paths[8:], False), batch_size=64)
    for epoch in range(4):
        net.train()
        total = 0.0
        for x, y in train_dl:
            loss = loss_fn(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        net.eval()
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in valid_dl)
        print(f"epoch {epoch}: train loss {total / 800:.3f}, valid acc {hits / 200:.3f}")
'''

CURED = r'''
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(8)
rs = np.random.RandomState(8)

SIZE, PER_SHARD, CLASSES = 40, 100, 5


def draw_leaf(kind):
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    angle = rs.uniform(0, np.pi)
    u = np.cos(angle) * xx + np.sin(angle) * yy
    v = -np.sin(angle) * xx + np.cos(angle) * yy
    width = 0.25 + 0.08 * kind
    blade = (u ** 2 / 0.7 + (v / width) ** 2) < 1
    veins = np.sin((6 + 3 * kind) * u) > 0.6
    img = np.stack([0.2 + 0.2 * veins * blade, 0.3 + 0.4 * blade, 0.2 + 0.1 * blade])
    return np.clip(255 * (img + 0.02 * rs.randn(3, 1, 1)), 0, 255).round(-1).astype(np.uint8)


def write_shards(folder, count):
    paths = []
    for s in range(count):
        labels = rs.randint(0, CLASSES, PER_SHARD)
        images = np.stack([draw_leaf(k) for k in labels])
        paths.append(os.path.join(folder, f"leaves_{s:02d}.npz"))
        np.savez_compressed(paths[-1], images=images, labels=labels)
    return paths


class LeafDataset(Dataset):
    def __init__(self, paths, augment):
        shards = [np.load(p) for p in paths]
        self.images = [z["images"] for z in shards]
        self.labels = [z["labels"] for z in shards]
        self.augment = augment

    def __len__(self):
        return len(self.images) * PER_SHARD

    def __getitem__(self, i):
        shard, row = divmod(i, PER_SHARD)
        image = self.images[shard][row]
        label = int(self.labels[shard][row])
        x = torch.from_numpy(image).float() / 255
        if self.augment and torch.rand(()) < 0.5:
            x = x.flip(2)
        return x, label


net = nn.Sequential(
    nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(48 * (SIZE // 4) ** 2, CLASSES))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

with tempfile.TemporaryDirectory() as folder:
    paths = write_shards(folder, 10)
    train_dl = DataLoader(LeafDataset(paths[:8], True), batch_size=32, shuffle=True)
    valid_dl = DataLoader(LeafDataset(paths[8:], False), batch_size=64)
    for epoch in range(4):
        net.train()
        total = 0.0
        for x, y in train_dl:
            loss = loss_fn(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        net.eval()
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in valid_dl)
        print(f"epoch {epoch}: train loss {total / 800:.3f}, valid acc {hits / 200:.3f}")
'''
