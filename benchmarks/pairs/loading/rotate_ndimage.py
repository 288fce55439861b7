"""
number = 57
title = "Augment the batch instead of each sample"
family = "augmenting"
rule = ["slow_transform", "input_stall"]
guard = "training"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
scans = 128
batch = 16
pixels = 32
channels = 8
workers = 1

[sizes.cpu]
scans = 3584
batch = 32
pixels = 32
channels = 16
workers = 1

[sizes.host_bound]
scans = 8192
batch = 32
pixels = 48
channels = 16
workers = 12

[sizes.balanced]
scans = 8192
batch = 64
pixels = 64
channels = 128
workers = 12

[sizes.device_bound]
scans = 8192
batch = 128
pixels = 64
channels = 512
workers = 12

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.masked]
rules = []
why = "workers rotate the next batch while the model computes: the loop waits for none of it"
"""

# %% setup
import math

import numpy as np
import torch
from scipy import ndimage
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
scans = torch.randn(size.scans, 1, size.pixels, size.pixels)
kinds = torch.randint(0, 5, (size.scans,))


class RandomRotation:
    """Turns a scan by up to 20 degrees."""

    def __call__(self, scan):
        angle = np.random.uniform(-20, 20)
        return torch.from_numpy(ndimage.rotate(scan.numpy(), angle, axes=(1, 2), reshape=False))


class Scans(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return len(scans)

    def __getitem__(self, index):
        return self.transform(scans[index]), kinds[index]


model = torch.nn.Sequential(
    torch.nn.Conv2d(1, size.channels, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(size.channels, size.channels, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(4),
    torch.nn.Flatten(),
    torch.nn.Linear(16 * size.channels, 5),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
pin = device == "cuda"
np.random.seed(0)

# %% bad
dataset = Scans(RandomRotation())  # <- slow_transform
loader = DataLoader(dataset, batch_size=size.batch, shuffle=True, pin_memory=pin)  # <- slow_transform
for x, y in loader:  # <- input_stall
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()


# %% good
def rotated(batch):
    """Each scan of the batch turned by up to 20 degrees."""
    angle = (torch.rand(len(batch), device=batch.device) * 2 - 1) * math.radians(20)
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    turns = torch.stack([torch.stack([cos, -sin, zero], dim=1), torch.stack([sin, cos, zero], dim=1)], dim=1)
    grid = torch.nn.functional.affine_grid(turns, batch.shape, align_corners=False)
    return torch.nn.functional.grid_sample(batch, grid, align_corners=False)


dataset = TensorDataset(scans, kinds)
loader = DataLoader(dataset, batch_size=size.batch, shuffle=True, pin_memory=pin)
for x, y in loader:
    x, y = rotated(x.to(device, non_blocking=True)), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% masked
dataset = Scans(RandomRotation())
loader = DataLoader(dataset, batch_size=size.batch, shuffle=True, num_workers=size.workers, pin_memory=pin)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
