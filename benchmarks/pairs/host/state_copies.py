"""
number = 66
title = "Copy the weights once an epoch"
family = "checkpoints"
rule = "python_loop_over_weights"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
epochs = 2
batches = 8
batch = 32
width = 256
layers = 4

[sizes.cpu]
epochs = 4
batches = 36
batch = 32
width = 1024
layers = 4

[sizes.host_bound]
epochs = 4
batches = 25
batch = 64
width = 512
layers = 24

[sizes.balanced]
epochs = 4
batches = 25
batch = 1024
width = 4096
layers = 6

[sizes.device_bound]
epochs = 4
batches = 15
batch = 4096
width = 8192
layers = 6

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "a copy after each step too, but of the head alone: a few thousand numbers"
"""

# %% setup
import copy

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
body = [layer for _ in range(size.layers) for layer in (nn.Linear(size.width, size.width), nn.ReLU())]
model = nn.Sequential(*body, nn.Linear(size.width, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
x = torch.randn(size.batch, size.width, device=device)
batches = [(x, x[:, :1] + 0.001 * torch.randn(size.batch, 1, device=device)) for _ in range(size.batches)]

# %% bad
for epoch in range(size.epochs):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        # to go back to, should the next step give NaN
        last_state = copy.deepcopy(model.state_dict())  # <- python_loop_over_weights

# %% good
for epoch in range(size.epochs):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    # to go back to, should the next epoch give NaN
    last_state = copy.deepcopy(model.state_dict())

# %% negative
for epoch in range(size.epochs):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        last_head = copy.deepcopy(model[-1].state_dict())
