"""
number = 52
family = "host_work"
rule = "gc_pauses"
guard = "exact"
shows_on = "cpu"
published = "not in the list of pairs: `gc.collect()` after every batch, seen in many notebooks"

[sizes.mini]
batches = 12
batch = 64
width = 512
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
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
vocabulary = {f"word {index}": [index] for index in range(size.objects)}
samples = size.batches * size.batch
rows = TensorDataset(torch.randn(samples, size.width), torch.randint(0, 10, (samples,)))
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
for x, y in DataLoader(rows, batch_size=size.batch):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    gc.collect()  # <- gc_pauses

# %% good
for x, y in DataLoader(rows, batch_size=size.batch):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
