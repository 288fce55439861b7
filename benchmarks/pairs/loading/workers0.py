"""
number = 1
title = "Read samples in worker processes"
family = "input_pipeline"
rule = ["input_stall", "per_sample_fetch"]
guard = "exact"
shows_on = "cpu"
published = "2.7× (32 → 12 s), PyTorch's data-loading tutorial: 5 ms a sample, 4 workers"

[sizes.mini]
samples = 192
batch = 4
read_ms = 5.0
width = 2000

[sizes.cpu]
samples = 480
batch = 4
read_ms = 5.0
width = 2000

[sizes.host_bound]
samples = 3072
batch = 32
read_ms = 5.0
width = 512

[sizes.balanced]
samples = 3072
batch = 32
read_ms = 5.0
width = 4096

[sizes.device_bound]
samples = 3072
batch = 64
read_ms = 2.0
width = 16384
"""

# %% setup
import time

import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Pictures(Dataset):
    """Pictures on a slow disk: every sample is read when it is asked for."""

    def __init__(self, count):
        self.pixels = torch.randn(count, size.width)
        self.kinds = torch.randint(0, 10, (count,))

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        time.sleep(size.read_ms / 1000)
        return self.pixels[index], self.kinds[index]


pictures = Pictures(size.samples)
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
loader = DataLoader(pictures, batch_size=size.batch)
for x, y in loader:  # <- input_stall
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()

# %% good
loader = DataLoader(pictures, batch_size=size.batch, num_workers=4)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
