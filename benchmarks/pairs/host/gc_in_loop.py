"""
number = 52
title = "Leave the garbage collector alone"
family = "host_work"
rule = "gc_pauses"
guard = "exact"
shows_on = "cpu"
published = "not in the list of pairs: `gc.collect()` after every batch, seen in many notebooks"

[sizes.mini]
batches = 12
batch = 64
width = 1500
objects = 20000

[sizes.cpu]
batches = 30
batch = 64
width = 1500
objects = 20000

[sizes.host_bound]
batches = 40
batch = 64
width = 512
objects = 500000

[sizes.balanced]
batches = 40
batch = 1024
width = 4096
objects = 500000

[sizes.device_bound]
batches = 40
batch = 8192
width = 8192
objects = 500000
"""

# %% setup
import gc

import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
vocabulary = {f"word {index}": [index] for index in range(size.objects)}
batches = [(torch.randn(size.batch, size.width), torch.randint(0, 10, (size.batch,))) for _ in range(size.batches)]
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
for x, y in DataLoader(batches, batch_size=None):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    gc.collect()  # <- gc_pauses

# %% good
for x, y in DataLoader(batches, batch_size=None):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
