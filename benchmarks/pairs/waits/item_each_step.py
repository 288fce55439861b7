"""
number = 12
title = "Read the loss now and then"
family = "host_syncs"
rule = "sync_in_step"
guard = "exact"
shows_on = "cuda"
published = "1.04× on a small net (LANfactory); 5–7 % on one GPU (fvdb #144); 40–50 ms a step (torchtune #522)"

[sizes.mini]
rows = 64
columns = 8
width = 64
layers = 1
steps = 12
slow_ms = 20.0

[sizes.host_bound]
rows = 512
columns = 26
width = 128
layers = 2
steps = 60
slow_ms = 20.0

[sizes.balanced]
rows = 4096
columns = 20
width = 4096
layers = 4
steps = 60
slow_ms = 40.0

[sizes.device_bound]
rows = 8192
columns = 26
width = 6144
layers = 6
steps = 24
slow_ms = 150.0

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.masked]
rules = ["input_stall", "per_sample_fetch"]
why = "the loader holds everything up, so that reading the loss costs nothing"

[variants.double]
rules = ["sync_in_step", "explicit_synchronize"]
why = "the loss is read and the step is timed by hand: one wait alone gone gains little"
"""

# %% setup
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Clicks(nn.Module):
    """A table for each categorical column, and a wide net behind them."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(1000, 16) for _ in range(size.columns))
        hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
        self.head = nn.Sequential(
            nn.Linear(16 * size.columns, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 2)
        )

    def forward(self, columns):
        embedded = [table(columns[:, place]) for place, table in enumerate(self.tables)]
        return self.head(torch.cat(embedded, dim=1))


class OnSlowDisk(Dataset):
    """The same batches, but each has to be read first."""

    def __len__(self):
        return size.steps

    def __getitem__(self, index):
        time.sleep(size.slow_ms / 1000)
        return batches[index % 4]


with torch.device(device):
    model = Clicks()
    batches = [(torch.randint(0, 1000, (size.rows, size.columns)), torch.randint(0, 2, (size.rows,))) for _ in range(4)]
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
total = 0.0
for step in range(size.steps):
    x, y = batches[step % 4]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()  # <- sync_in_step
print(f"mean loss {total / size.steps:.4f}")

# %% good
total = torch.zeros((), device=device)
for step in range(size.steps):
    x, y = batches[step % 4]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.detach()
print(f"mean loss {total.item() / size.steps:.4f}")

# %% masked
total = 0.0
for x, y in DataLoader(OnSlowDisk(), batch_size=None):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
print(f"mean loss {total / size.steps:.4f}")

# %% double
total, seconds = 0.0, []
for step in range(size.steps):
    began = time.perf_counter()
    x, y = batches[step % 4]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    if device == "cuda":
        torch.cuda.synchronize()  # <- explicit_synchronize
    loss.backward()
    optimizer.step()
    total += loss.item()  # <- sync_in_step
    seconds.append(time.perf_counter() - began)
print(f"mean loss {total / size.steps:.4f}, {1000 * sum(seconds) / size.steps:.2f} ms a step")
