"""
number = 40
title = "Leave the allocator’s cache alone"
family = "allocator"
rule = "empty_cache_in_step"
guard = "exact"
shows_on = "cuda"
published = "about 30 % of overhead (pocket #10); Hugging Face took it out (#31530)"

[sizes.mini]
rows = 64
width = 64
layers = 4
steps = 12

[sizes.host_bound]
rows = 1024
width = 512
layers = 12
steps = 30

[sizes.balanced]
rows = 8192
width = 2048
layers = 12
steps = 30

[sizes.device_bound]
rows = 16384
width = 4096
layers = 12
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(*hidden, nn.Linear(size.width, 10))
    x = torch.randn(size.rows, size.width)
    y = torch.randint(0, 10, (size.rows,))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    torch.cuda.empty_cache()  # <- empty_cache_in_step

# %% good
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
