"""
number = 4
title = "Copy from pinned memory, without waiting"
family = "transfers"
rule = "pageable_h2d_copy"
guard = "exact"
shows_on = "cuda"
published = "over 30 % of the time where copies are the bottleneck (PyTorch forum 181327); 1.0× where the loader is"

[sizes.mini]
rows = 128
features = 256
width = 128
layers = 2
batches = 8
slow_ms = 20.0
brief_ms = 0.2

[sizes.host_bound]
rows = 64
features = 1024
width = 256
layers = 40
batches = 24
slow_ms = 40.0
brief_ms = 0.0

[sizes.balanced]
rows = 4096
features = 8192
width = 8192
layers = 12
batches = 24
slow_ms = 150.0
brief_ms = 5.0

[sizes.device_bound]
rows = 4096
features = 8192
width = 8192
layers = 24
batches = 16
slow_ms = 200.0
brief_ms = 10.0

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = ["input_stall", "per_sample_fetch"]
why = "the loop waits for the disk: faster copies would only wait longer for the next shard"

[variants.masked]
rules = ["pageable_h2d_copy"]
why = "reading a shard hides behind the kernels of the step before: the copies cost, and more workers gain nothing"

[variants.double]
rules = ["pageable_h2d_copy", "sync_in_step"]
why = "the loss is read in every step as well: the queue stays filled only when both are gone"
"""

# %% setup
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Shards(Dataset):
    """Whole batches, as a preprocessing job left them: four of them lie in memory and are given in turn."""

    def __init__(self, read_ms=0.0):
        self.read_ms = read_ms
        self.shards = [torch.randn(size.rows, size.features) for _ in range(4)]
        self.targets = [torch.randint(0, 10, (size.rows,)) for _ in range(4)]

    def __len__(self):
        return size.batches

    def __getitem__(self, index):
        if self.read_ms:
            time.sleep(self.read_ms / 1000)
        return self.shards[index % 4], self.targets[index % 4]


shards = Shards()
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(nn.Linear(size.features, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

# %% bad
loader = DataLoader(shards, batch_size=None)  # <- pageable_h2d_copy
for x, y in loader:
    x, y = x.to(device), y.to(device)  # <- pageable_h2d_copy
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% good
loader = DataLoader(shards, batch_size=None, pin_memory=device == "cuda")
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% negative
shards.read_ms = size.slow_ms
loader = DataLoader(shards, batch_size=None)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% masked
shards.read_ms = size.brief_ms
loader = DataLoader(shards, batch_size=None)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% double
loader = DataLoader(shards, batch_size=None)
total = 0.0
for x, y in loader:
    x, y = x.to(device), y.to(device)  # <- pageable_h2d_copy
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()  # <- sync_in_step
