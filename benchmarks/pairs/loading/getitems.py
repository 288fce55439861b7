"""
number = 3
title = "Fetch a whole batch in one request"
family = "input_pipeline"
rule = ["per_sample_fetch", "input_stall"]
guard = "exact"
shows_on = "cpu"
published = "2.9× (9 → 3 s), PyTorch's data-loading tutorial: a whole batch read at once"

[sizes.mini]
samples = 240
batch = 8
request_ms = 3.0
width = 2400
workers = 1

[sizes.cpu]
samples = 1200
batch = 8
request_ms = 3.0
width = 2400
workers = 1

[sizes.host_bound]
samples = 2048
batch = 32
request_ms = 4.0
width = 512
workers = 4

[sizes.balanced]
samples = 2048
batch = 64
request_ms = 4.0
width = 4096
workers = 4

[sizes.device_bound]
samples = 2048
batch = 128
request_ms = 1.0
width = 16384
workers = 4
"""

# %% setup
import time

import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Store:
    """A remote store: a request takes as long for one row as for many."""

    def __init__(self, count):
        self.rows = torch.randn(count, size.width)
        self.kinds = torch.randint(0, 10, (count,))

    def read(self, indices):
        time.sleep(size.request_ms / 1000)
        return [(self.rows[index], self.kinds[index]) for index in indices]


class Rows(Dataset):
    def __init__(self, store):
        self.store = store

    def __len__(self):
        return len(self.store.rows)

    def __getitem__(self, index):
        return self.store.read([index])[0]


class RowsTogether(Rows):
    def __getitems__(self, indices):
        return self.store.read(indices)


store = Store(size.samples)
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
loader = DataLoader(Rows(store), batch_size=size.batch, num_workers=size.workers)  # <- per_sample_fetch
for x, y in loader:  # <- per_sample_fetch
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()

# %% good
loader = DataLoader(RowsTogether(store), batch_size=size.batch, num_workers=size.workers)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
