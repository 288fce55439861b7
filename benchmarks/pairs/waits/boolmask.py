"""
number = 15
title = "Weigh by a mask instead of selecting with it"
family = "host_syncs_masks"
rule = "sync_in_step"
guard = "numerics"
shows_on = "cuda"
published = "a part of the 8× of segment-anything-fast, where aten::index waited for the device"

[sizes.mini]
rows = 64
width = 64
layers = 4
steps = 12

[sizes.host_bound]
rows = 512
width = 256
layers = 24
steps = 30

[sizes.balanced]
rows = 4096
width = 1024
layers = 24
steps = 30

[sizes.device_bound]
rows = 16384
width = 4096
layers = 12
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

with torch.device(device):
    layers = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(size.layers))
    tokens = torch.randn(size.rows, size.width)
    target = torch.randn(size.rows, size.width)
    hidden_tokens = [torch.rand(size.rows) < 0.4 for _ in range(4)]
optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)

# %% bad
for step in range(size.steps):
    mask = hidden_tokens[step % 4]
    x, loss = tokens.masked_fill(mask[:, None], 0.0), 0.0
    for number, layer in enumerate(layers, start=1):
        x = torch.relu(layer(x))
        if number % 4:
            continue
        loss = loss + ((x[mask] - target[mask]) ** 2).mean()  # <- sync_in_step
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %% good
for step in range(size.steps):
    mask = hidden_tokens[step % 4]
    weight = mask[:, None] / (mask.sum() * size.width)
    x, loss = tokens.masked_fill(mask[:, None], 0.0), 0.0
    for number, layer in enumerate(layers, start=1):
        x = torch.relu(layer(x))
        if number % 4:
            continue
        loss = loss + ((x - target) ** 2 * weight).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
