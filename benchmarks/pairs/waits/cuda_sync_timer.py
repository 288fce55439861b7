"""
number = 16
title = "Time the whole loop, and wait once"
family = "host_syncs_timers"
rule = "explicit_synchronize"
guard = "exact"
shows_on = "cuda"
published = "torchtitan took it out (#134), without a figure"

[sizes.mini]
rows = 64
columns = 8
width = 64
layers = 1
steps = 12

[sizes.host_bound]
rows = 512
columns = 26
width = 128
layers = 2
steps = 60

[sizes.balanced]
rows = 4096
columns = 20
width = 4096
layers = 4
steps = 60

[sizes.device_bound]
rows = 8192
columns = 26
width = 6144
layers = 6
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import time

import torch
from torch import nn

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


with torch.device(device):
    model = Clicks()
    batches = [(torch.randint(0, 1000, (size.rows, size.columns)), torch.randint(0, 2, (size.rows,))) for _ in range(4)]
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
seconds = []
for step in range(size.steps):
    began = time.perf_counter()
    x, y = batches[step % 4]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    if device == "cuda":
        torch.cuda.synchronize()  # <- explicit_synchronize
    seconds.append(time.perf_counter() - began)
print(f"{1000 * sum(seconds) / size.steps:.2f} ms a step")

# %% good
began = time.perf_counter()
for step in range(size.steps):
    x, y = batches[step % 4]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
if device == "cuda":
    torch.cuda.synchronize()
print(f"{1000 * (time.perf_counter() - began) / size.steps:.2f} ms a step")
