"""
number = 7
title = "One copy instead of many small ones"
family = "small_copies"
rule = "small_h2d_copies"
guard = "exact"
shows_on = "cuda"
published = "large in PyTorch's pinned-memory tutorial for a thousand small tensors; the figure is not printed there"

[sizes.mini]
rows = 32
columns = 40
width = 64
layers = 1
steps = 8

[sizes.host_bound]
rows = 256
columns = 100
width = 256
layers = 40
steps = 24

[sizes.balanced]
rows = 2048
columns = 200
width = 8192
layers = 4
steps = 24

[sizes.device_bound]
rows = 8192
columns = 100
width = 6144
layers = 6
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

# a table: each column of each batch is a tensor of its own
tables = [{f"column{c}": torch.randn(size.rows) for c in range(size.columns)} for _ in range(4)]
kinds = [torch.randint(0, 2, (size.rows,), device=device) for _ in range(4)]
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(nn.Linear(size.columns, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

# %% bad
for step in range(size.steps):
    table = tables[step % 4]
    x = torch.stack([column.to(device) for column in table.values()], dim=1)  # <- small_h2d_copies
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), kinds[step % 4])
    loss.backward()
    optimizer.step()

# %% good
for step in range(size.steps):
    table = tables[step % 4]
    x = torch.stack(list(table.values()), dim=1).to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), kinds[step % 4])
    loss.backward()
    optimizer.step()
