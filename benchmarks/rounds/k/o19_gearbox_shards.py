NAME = 'Extracts random-convolution features of gearbox vibrations into shards on disk and trains a linear probe from them.'
FAULT = 'The shards of float32 features are written with np.savez_compressed: deflating nearly incompressible floats (and inflating them each epoch) costs more than everything else.'
CURE = 'Write the shards uncompressed with np.savez.'
KIND = 'time'
FAULT_LINES = ['np.savez_compressed(self.path(self.count), feats=feats.numpy(), target=target)', 'yield torch.from_numpy(z["feats"]), torch.from_numpy(z["target"])', 'store.write(torch.cat([kernels(part) for part in x.split(100)]), state)', 'with np.load(self.path(i)) as z:']
FAULT_CALLS = ['savez_compressed', 'write', 'load', '__iter__', 'read', 'compress']
FAULTY = r"""
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(10)
SHARD, WINDOW, KERNELS = 1000, 256, 700


def vibration(n, rng):
    '''Accelerometer windows of gearboxes: healthy, chipped tooth, misaligned.'''
    state = rng.integers(0, 3, n)
    t = np.arange(WINDOW) / 1024
    x = rng.normal(0, 1.0, (n, WINDOW))
    phase = rng.uniform(0, 6.28, n)[:, None]
    x += np.sin(2 * np.pi * 60 * t + phase)
    x += (state == 1)[:, None] * 1.5 * (np.sin(2 * np.pi * 17 * t + phase) > 0.97)
    x += (state == 2)[:, None] * 0.7 * np.sin(2 * np.pi * 120 * t + phase)
    return torch.from_numpy(x.astype(np.float32)), state


class RandomKernels(nn.Module):
    '''Random convolutions, pooled to maximum and share of positive values.'''

    def __init__(self, n=KERNELS, size=15):
        super().__init__()
        self.weight = torch.randn(n, 1, size)
        self.weight -= self.weight.mean(-1, keepdim=True)
        self.bias = torch.rand(n) * 2 - 1

    @torch.no_grad()
    def forward(self, x):
        h = nn.functional.conv1d(x[:, None], self.weight, self.bias, stride=4)
        return torch.cat([h.amax(-1), (h > 0).float().mean(-1), h.mean(-1), h.std(-1)], 1)


class ShardStore:
    '''Features do not fit into the memory of the edge box, so they live in shards on disk.'''

    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def path(self, i):
        return os.path.join(self.folder, f"shard{i:03d}.npz")

    def write(self, feats, target):
        np.savez_compressed(self.path(self.count), feats=feats.numpy(), target=target)
        self.count += 1

    def __iter__(self):
        for i in torch.randperm(self.count).tolist():
            with np.load(self.path(i)) as z:
                yield torch.from_numpy(z["feats"]), torch.from_numpy(z["target"])


rng = np.random.default_rng(10)
kernels = RandomKernels()
with tempfile.TemporaryDirectory() as folder:
    store = ShardStore(folder)
    for _ in range(8):
        x, state = vibration(SHARD, rng)
        store.write(torch.cat([kernels(part) for part in x.split(100)]), state)
    probe = nn.Sequential(nn.BatchNorm1d(4 * KERNELS, affine=False), nn.Linear(4 * KERNELS, 3))
    opt = torch.optim.SGD(probe.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(4):
        losses = []
        for feats, target in store:
            for rows in torch.randperm(len(feats)).split(100):
                loss = nn.functional.cross_entropy(probe(feats[rows]), target[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
                losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.3f}")
    probe.eval()
    x, state = vibration(1000, rng)
    acc = (probe(kernels(x)).argmax(1) == torch.from_numpy(state)).float().mean().item()
    print(f"test accuracy {acc:.3f}")
"""
CURED = r"""
import os
import tempfile
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(10)
SHARD, WINDOW, KERNELS = 1000, 256, 700


def vibration(n, rng):
    '''Accelerometer windows of gearboxes: healthy, chipped tooth, misaligned.'''
    state = rng.integers(0, 3, n)
    t = np.arange(WINDOW) / 1024
    x = rng.normal(0, 1.0, (n, WINDOW))
    phase = rng.uniform(0, 6.28, n)[:, None]
    x += np.sin(2 * np.pi * 60 * t + phase)
    x += (state == 1)[:, None] * 1.5 * (np.sin(2 * np.pi * 17 * t + phase) > 0.97)
    x += (state == 2)[:, None] * 0.7 * np.sin(2 * np.pi * 120 * t + phase)
    return torch.from_numpy(x.astype(np.float32)), state


class RandomKernels(nn.Module):
    '''Random convolutions, pooled to maximum and share of positive values.'''

    def __init__(self, n=KERNELS, size=15):
        super().__init__()
        self.weight = torch.randn(n, 1, size)
        self.weight -= self.weight.mean(-1, keepdim=True)
        self.bias = torch.rand(n) * 2 - 1

    @torch.no_grad()
    def forward(self, x):
        h = nn.functional.conv1d(x[:, None], self.weight, self.bias, stride=4)
        return torch.cat([h.amax(-1), (h > 0).float().mean(-1), h.mean(-1), h.std(-1)], 1)


class ShardStore:
    '''Features do not fit into the memory of the edge box, so they live in shards on disk.'''

    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def path(self, i):
        return os.path.join(self.folder, f"shard{i:03d}.npz")

    def write(self, feats, target):
        np.savez(self.path(self.count), feats=feats.numpy(), target=target)
        self.count += 1

    def __iter__(self):
        for i in torch.randperm(self.count).tolist():
            with np.load(self.path(i)) as z:
                yield torch.from_numpy(z["feats"]), torch.from_numpy(z["target"])


rng = np.random.default_rng(10)
kernels = RandomKernels()
with tempfile.TemporaryDirectory() as folder:
    store = ShardStore(folder)
    for _ in range(8):
        x, state = vibration(SHARD, rng)
        store.write(torch.cat([kernels(part) for part in x.split(100)]), state)
    probe = nn.Sequential(nn.BatchNorm1d(4 * KERNELS, affine=False), nn.Linear(4 * KERNELS, 3))
    opt = torch.optim.SGD(probe.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(4):
        losses = []
        for feats, target in store:
            for rows in torch.randperm(len(feats)).split(100):
                loss = nn.functional.cross_entropy(probe(feats[rows]), target[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
                losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.3f}")
    probe.eval()
    x, state = vibration(1000, rng)
    acc = (probe(kernels(x)).argmax(1) == torch.from_numpy(state)).float().mean().item()
    print(f"test accuracy {acc:.3f}")
"""
