"""
number = 9
title = "Decode pictures a batch at a time, on the device"
family = "decoding_pictures"
rule = ["slow_transform", "input_stall"]
guard = "numerics"
shows_on = "cpu"
published = "about 4× on a V100 with DALI (4,000 pictures/s); 1.3–3× on one GPU (both public reports on decoding JPEG)"

[sizes.mini]
pictures = 64
batch = 8
pixels = 64
width = 256
workers = 0

[sizes.cpu]
pictures = 1600
batch = 8
pixels = 64
width = 256
workers = 0

[sizes.host_bound]
pictures = 512
batch = 16
pixels = 128
width = 256
workers = 2

[sizes.balanced]
pictures = 512
batch = 32
pixels = 128
width = 4096
workers = 2

[sizes.device_bound]
pictures = 512
batch = 32
pixels = 128
width = 8192
workers = 2

[besides]
host_bound = ["launch_bound", "small_batch", "input_stall"]
"""

# %% setup
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

# what JPEG keeps of a picture: for each block of 8 × 8 pixels the cosines that it is the sum of, coarsely rounded
places, waves = torch.arange(8)[None, :], torch.arange(8)[:, None]
cosines = torch.cos(math.pi * (2 * places + 1) * waves / 16) * torch.where(waves == 0, math.sqrt(1 / 8), 0.5)
steps = 2.0 + waves + places
blocks = size.pixels // 8


class Decode:
    """Pixels of one picture, block by block, as a decoder on the host does it."""

    def __call__(self, coefficients):
        table, coarse = cosines.double().numpy(), steps.double().numpy()
        picture = np.empty((3, size.pixels, size.pixels), np.float32)
        for channel, row, column in np.ndindex(3, blocks, blocks):
            block = table.T @ (coefficients[channel, row, column] * coarse) @ table
            picture[channel, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = block
        return torch.from_numpy(picture)


class Compressed(Dataset):
    """Pictures as they lie on the disk."""

    def __init__(self, transform=None):
        self.transform = transform
        shape = (min(size.pictures, 64), 3, blocks, blocks, 8, 8)
        self.coefficients = torch.randint(-8, 8, shape, dtype=torch.int8)
        self.kinds = torch.randint(0, 10, (size.pictures,))

    def __len__(self):
        return size.pictures

    def __getitem__(self, index):
        coefficients = self.coefficients[index % len(self.coefficients)]
        return (self.transform(coefficients.numpy()) if self.transform else coefficients), self.kinds[index]


def decoded(coefficients, table, coarse):
    """Pixels of a batch of pictures, all blocks at once."""
    pixels = table.T @ (coefficients * coarse) @ table
    return pixels.permute(0, 1, 2, 4, 3, 5).reshape(-1, 3, size.pixels, size.pixels)


with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(4)]
    head = nn.Sequential(nn.Linear(3 * 16 * 16, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 10))
optimizer = torch.optim.SGD(head.parameters(), lr=1e-4)
patches = nn.PixelUnshuffle(16)


def classify(pictures):
    """What the patches of each picture say, on average."""
    return head(patches(pictures).flatten(2).transpose(1, 2)).mean(dim=1)


on_disk = Compressed()

# %% bad
on_disk.transform = Decode()
loader = DataLoader(on_disk, batch_size=size.batch, num_workers=size.workers)  # <- slow_transform
for pictures, kinds in loader:  # <- input_stall
    pictures, kinds = pictures.to(device), kinds.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(classify(pictures), kinds)
    loss.backward()
    optimizer.step()

# %% good
on_disk.transform = None
table, coarse = cosines.to(device), steps.to(device)
loader = DataLoader(on_disk, batch_size=size.batch, num_workers=size.workers)
for coefficients, kinds in loader:
    pictures, kinds = decoded(coefficients.to(device), table, coarse), kinds.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(classify(pictures), kinds)
    loss.backward()
    optimizer.step()
