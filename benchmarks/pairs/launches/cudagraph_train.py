"""
number = 27
title = "Replay the training step as a graph"
family = "launching"
rule = "launch_bound"
guard = "numerics"
shows_on = "cuda"
published = "1.2–3× (NVIDIA's guide to CUDA graphs in PyTorch); up to 1.7× for Mask R-CNN"

[sizes.mini]
rows = 16
width = 32
layers = 6
steps = 12

[sizes.host_bound]
rows = 32
width = 256
layers = 30
steps = 60

[sizes.balanced]
rows = 256
width = 512
layers = 30
steps = 60

[sizes.device_bound]
rows = 2048
width = 4096
layers = 12
steps = 24

[besides]
balanced = ["small_batch"]

[variants.negative]
rules = ["unfused_pointwise"]
why = "kernels of a millisecond: the host is far ahead, and a graph has nothing to save"
"""

# %% setup
import copy

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


def net_of(width, count):
    """So many normed layers of that width."""
    return nn.Sequential(
        *(nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU()) for _ in range(count))
    )


with torch.device(device):
    model = net_of(size.width, size.layers)
    x = torch.randn(size.rows, size.width)
    y = torch.randn(size.rows, size.width)
# there are no graphs of launches without a device
as_graph = torch.cuda.make_graphed_callables if device == "cuda" else (lambda net, inputs: net)

# %% bad
net = copy.deepcopy(model)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)  # <- launch_bound
    loss.backward()
    optimizer.step()

# %% good
net = as_graph(copy.deepcopy(model), (x,))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()

# %% negative
with torch.device(device):
    width, rows = (64, 64) if device == "cpu" else (8192, 8192)
    net, wide = net_of(width, 4), torch.randn(rows, width)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for _ in range(min(size.steps, 20)):
    optimizer.zero_grad()
    loss = net(wide).square().mean()
    loss.backward()
    optimizer.step()
