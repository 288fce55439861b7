"""
number = 33
title = "Drop gradients instead of filling them with zeros"
family = "gradients"
rule = "gradients_zeroed_in_place"
guard = "exact"
shows_on = "cuda"
published = "small; one filling for each parameter (PyTorch's tuning guide)"

[sizes.mini]
rows = 8
width = 64
layers = 6
steps = 12

[sizes.host_bound]
rows = 32
width = 128
layers = 40
steps = 40

[sizes.balanced]
rows = 2048
width = 4096
layers = 8
steps = 30

[sizes.device_bound]
rows = 2048
width = 8192
layers = 8
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
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(*hidden, nn.Linear(size.width, 10))
    x = torch.randn(size.rows, size.width)
    y = torch.randint(0, 10, (size.rows,))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
for _ in range(size.steps):
    optimizer.zero_grad(set_to_none=False)  # <- gradients_zeroed_in_place
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% good
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
