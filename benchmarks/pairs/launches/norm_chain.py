"""
number = 46
title = "Fuse chains of pointwise operators"
family = "pointwise"
rule = ["unfused_pointwise", "launch_bound"]
guard = "numerics"
shows_on = "cuda"
published = "2–5× fewer bytes for the chains (analytic)"

[sizes.mini]
tokens = 64
width = 64
layers = 2
steps = 8

[sizes.host_bound]
tokens = 256
width = 256
layers = 8
steps = 30

[sizes.balanced]
tokens = 16384
width = 1024
layers = 6
steps = 24

[sizes.device_bound]
tokens = 65536
width = 1024
layers = 6
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Block(nn.Module):
    """Norm, wide layer, activation, narrow layer; norm and activation are the notebook's."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size.width))
        self.up, self.down = nn.Linear(size.width, 2 * size.width), nn.Linear(2 * size.width, size.width)

    def forward(self, x):
        return x + self.down(activate(self.up(normalise(x, self.weight))))


with torch.device(device):
    model = nn.Sequential(*(Block() for _ in range(size.layers)))
    x = torch.randn(size.tokens, size.width)
    y = torch.randn(size.tokens, size.width)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


# %% bad
def normalise(x, weight):
    return weight * (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-6))  # <- unfused_pointwise


def activate(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))  # <- unfused_pointwise


for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # <- unfused_pointwise
    loss.backward()  # <- unfused_pointwise
    optimizer.step()


# %% good
def normalise(x, weight):
    return nn.functional.rms_norm(x, weight.shape, weight, 1e-6)


def activate(x):
    return nn.functional.gelu(x, approximate="tanh")


for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
