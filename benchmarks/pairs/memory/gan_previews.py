"""
number = 63
title = "Keep previews without their graph"
family = "adversarial"
rule = "memory_grows_per_step"
guard = "exact"
shows_on = "cpu"
gain = "memory"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 12
batch = 16
width = 256
shown = 32

[sizes.cpu]
steps = 160
batch = 64
width = 1024
shown = 160

[sizes.host_bound]
steps = 100
batch = 64
width = 1024
shown = 256

[sizes.balanced]
steps = 100
batch = 1024
width = 4096
shown = 512

[sizes.device_bound]
steps = 60
batch = 4096
width = 8192
shown = 2048

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the pictures are kept with their graph as well, but only the last two of them: memory stays level"
"""

# %% setup
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
generator = nn.Sequential(
    nn.Linear(64, size.width), nn.GELU(), nn.Linear(size.width, size.width), nn.GELU(), nn.Linear(size.width, 256)
).to(device)
critic = nn.Sequential(nn.Linear(256, size.width), nn.GELU(), nn.Linear(size.width, 1)).to(device)
g_optimizer = torch.optim.SGD(generator.parameters(), lr=0.001)
d_optimizer = torch.optim.SGD(critic.parameters(), lr=0.001)
real = torch.randn(size.batch, 256, device=device)
ones, zeros = torch.ones(size.batch, 1, device=device), torch.zeros(size.batch, 1, device=device)
fixed = torch.randn(size.shown, 64, device=device)
bce = nn.functional.binary_cross_entropy_with_logits


def play_once():
    """One step of the critic, one of the generator."""
    fake = generator(torch.randn(size.batch, 64, device=device))
    d_optimizer.zero_grad()
    (bce(critic(real), ones) + bce(critic(fake.detach()), zeros)).backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    loss = bce(critic(fake), ones)
    loss.backward()
    g_optimizer.step()
    return loss.detach()


# %% bad
pictures = []
for step in range(size.steps):
    loss = play_once()
    pictures.append(generator(fixed)[:4])  # <- memory_grows_per_step

# %% good
pictures = []
for step in range(size.steps):
    loss = play_once()
    with torch.no_grad():
        pictures.append(generator(fixed)[:4].clone())

# %% negative
pictures = deque(maxlen=2)
for step in range(size.steps):
    loss = play_once()
    pictures.append(generator(fixed)[:4])
