NAME = 'Trains a small convolutional classifier on images that come from compressed npz shards through a Dataset.'
FAULT = 'The dataset keeps lazy NpzFile handles, so every item decompresses the whole image array and label array of its shard again.'
CURE = 'Read the arrays of every shard once in the constructor and index the arrays in memory.'
KIND = 'time'
FAULT_LINES = ['self.shards = [np.load(p) for p in paths]', 'image = shard["images"][pos]', 'label = int(shard["labels"][pos])']
FAULT_CALLS = ['np.load', 'NpzFile.__getitem__', '__getitem__']
FAULTY = r'''import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

N_SHARDS, PER_SHARD, N_CLASSES = 4, 256, 5
workdir = tempfile.TemporaryDirectory()


def write_shards(root):
    yy, xx = np.mgrid[0:32, 0:32] / 32.0
    paths = []
    for s in range(N_SHARDS):
        labels = rng.integers(0, N_CLASSES, PER_SHARD)
        images = np.empty((PER_SHARD, 3, 32, 32), dtype=np.uint8)
        for i, lab in enumerate(labels):
            wave = np.sin(2 * np.pi * (lab + 1) * (xx + 0.5 * yy) + rng.uniform(0, 6.28))
            noise = rng.normal(0, 0.5, (3, 32, 32))
            images[i] = np.clip(127 + 50 * (wave + noise), 0, 255)
        path = os.path.join(root, f"shard_{s:03d}.npz")
        np.savez_compressed(path, images=images, labels=labels)
        paths.append(path)
    return paths


class ShardedImages(Dataset):
    def __init__(self, paths, per_shard):
        self.per_shard = per_shard
        self.shards = [np.load(p) for p in paths]

    def __len__(self):
        return len(self.shards) * self.per_shard

    def __getitem__(self, idx):
        shard = self.shards[idx // self.per_shard]
        pos = idx % self.per_shard
        image = shard["images"][pos]
        label = int(shard["labels"][pos])
        x = torch.from_numpy(image).float().div_(255.0).sub_(0.5)
        if torch.rand(()) < 0.5:
            x = x.flip(2)
        return x, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 64, 3, padding=1)
        self.c3 = nn.Conv2d(64, 64, 3, padding=1)
        self.head = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        x = F.relu(self.c3(x)).mean((2, 3))
        return self.head(x)


dataset = ShardedImages(write_shards(workdir.name), PER_SHARD)
loader = DataLoader(dataset, batch_size=64, shuffle=True)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(2):
    seen, hits, loss_sum = 0, 0, 0.0
    for x, y in loader:
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(y)
        hits += (logits.argmax(1) == y).sum().item()
        loss_sum += loss.item() * len(y)
    print(f"epoch {epoch}: loss {loss_sum / seen:.3f}  acc {hits / seen:.3f}")
workdir.cleanup()
'''
CURED = r'''import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

N_SHARDS, PER_SHARD, N_CLASSES = 4, 256, 5
workdir = tempfile.TemporaryDirectory()


def write_shards(root):
    yy, xx = np.mgrid[0:32, 0:32] / 32.0
    paths = []
    for s in range(N_SHARDS):
        labels = rng.integers(0, N_CLASSES, PER_SHARD)
        images = np.empty((PER_SHARD, 3, 32, 32), dtype=np.uint8)
        for i, lab in enumerate(labels):
            wave = np.sin(2 * np.pi * (lab + 1) * (xx + 0.5 * yy) + rng.uniform(0, 6.28))
            noise = rng.normal(0, 0.5, (3, 32, 32))
            images[i] = np.clip(127 + 50 * (wave + noise), 0, 255)
        path = os.path.join(root, f"shard_{s:03d}.npz")
        np.savez_compressed(path, images=images, labels=labels)
        paths.append(path)
    return paths


class ShardedImages(Dataset):
    def __init__(self, paths, per_shard):
        self.per_shard = per_shard
        self.shards = [dict(np.load(p)) for p in paths]

    def __len__(self):
        return len(self.shards) * self.per_shard

    def __getitem__(self, idx):
        shard = self.shards[idx // self.per_shard]
        pos = idx % self.per_shard
        image = shard["images"][pos]
        label = int(shard["labels"][pos])
        x = torch.from_numpy(image).float().div_(255.0).sub_(0.5)
        if torch.rand(()) < 0.5:
            x = x.flip(2)
        return x, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 64, 3, padding=1)
        self.c3 = nn.Conv2d(64, 64, 3, padding=1)
        self.head = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        x = F.relu(self.c3(x)).mean((2, 3))
        return self.head(x)


dataset = ShardedImages(write_shards(workdir.name), PER_SHARD)
loader = DataLoader(dataset, batch_size=64, shuffle=True)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(2):
    seen, hits, loss_sum = 0, 0, 0.0
    for x, y in loader:
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(y)
        hits += (logits.argmax(1) == y).sum().item()
        loss_sum += loss.item() * len(y)
    print(f"epoch {epoch}: loss {loss_sum / seen:.3f}  acc {hits / seen:.3f}")
workdir.cleanup()
'''
