"""
number = 75
title = "No anomaly detection in the closure"
family = "physics"
rule = "debug_mode_on"
guard = "exact"
shows_on = "cpu"
published = "PyTorch's tuning guide: off outside of debugging; nobody gives a number"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 4
points = 64
width = 16
layers = 3

[sizes.cpu]
steps = 48
points = 256
width = 48
layers = 3

[sizes.host_bound]
steps = 40
points = 1024
width = 64
layers = 6

[sizes.balanced]
steps = 40
points = 16384
width = 512
layers = 6

[sizes.device_bound]
steps = 40
points = 32768
width = 1024
layers = 8

[besides]
host_bound = ["launch_bound", "small_batch", "sync_in_step"]

[variants.negative]
rules = []
why = "on in the first of many steps, to look at once, and off after that"
"""

# %% setup
import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
hidden = [layer for _ in range(size.layers) for layer in (nn.Linear(size.width, size.width), nn.Tanh())]
model = nn.Sequential(nn.Linear(2, size.width), nn.Tanh(), *hidden, nn.Linear(size.width, 1)).to(device)
inside = torch.rand(size.points, 2, device=device)
edges = torch.rand(size.points, 2, device=device)
edges[:, 1] = 0
at_edges = torch.sin(math.pi * edges[:, :1])


def derivatives(values, places):
    return torch.autograd.grad(values.sum(), places, create_graph=True)[0]


def heat_loss():
    """How far the net is from the heat equation u_t = 0.1 u_xx, and from where it begins."""
    places = inside.clone().requires_grad_()
    first = derivatives(model(places), places)
    second = derivatives(first[:, 0], places)
    residue = first[:, 1] - 0.1 * second[:, 0]
    return residue.square().mean() + nn.functional.mse_loss(model(edges), at_edges)


# %% bad
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    with torch.autograd.detect_anomaly():  # <- debug_mode_on
        loss = heat_loss()
        loss.backward()
    return loss


losses = []
for step in range(size.steps):
    losses.append(optimizer.step(closure).item())

# %% good
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = heat_loss()
    loss.backward()
    return loss


losses = []
for step in range(size.steps):
    losses.append(optimizer.step(closure).item())

# %% negative
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    with torch.autograd.set_detect_anomaly(step == 0):
        loss = heat_loss()
        loss.backward()
    return loss


losses = []
for step in range(size.steps):
    losses.append(optimizer.step(closure).item())
