"""
number = 72
title = "Keep statistics of activations, not the activations"
family = "dead_units"
rule = "memory_grows_per_step"
guard = "exact"
shows_on = "cpu"
gain = "memory"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
steps = 16
batch = 256
width = 256
layers = 4

[sizes.cpu]
steps = 120
batch = 256
width = 448
layers = 6

[sizes.host_bound]
steps = 100
batch = 256
width = 512
layers = 8

[sizes.balanced]
steps = 80
batch = 2048
width = 2048
layers = 8

[sizes.device_bound]
steps = 24
batch = 16384
width = 4096
layers = 8

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the hooks keep activations as well, but only those of the last step"
"""

# %% setup
from collections import defaultdict

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
body = [layer for _ in range(size.layers) for layer in (nn.Linear(size.width, size.width), nn.ReLU())]
model = nn.Sequential(*body, nn.Linear(size.width, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randint(0, 10, (size.batch,), device=device)


def watched(make_hook):
    """The hooks on all rectifiers."""
    rectifiers = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.ReLU)]
    return [module.register_forward_hook(make_hook(name)) for name, module in rectifiers]


# %% bad
seen = defaultdict(list)


def remember(name):
    def hook(module, inputs, output):
        seen[name].append(output.detach())  # <- memory_grows_per_step

    return hook


hooks = watched(remember)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)  # <- memory_grows_per_step
    loss.backward()
    optimizer.step()
for hook in hooks:
    hook.remove()
silent = {name: (torch.stack(outputs) == 0).float().mean() for name, outputs in seen.items()}
print({name: f"{share.item():.3f}" for name, share in silent.items()})

# %% good
silent = defaultdict(lambda: torch.zeros((), device=device))


def remember(name):
    def hook(module, inputs, output):
        silent[name] += (output.detach() == 0).float().mean()

    return hook


hooks = watched(remember)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
for hook in hooks:
    hook.remove()
print({name: f"{total.item() / size.steps:.3f}" for name, total in silent.items()})

# %% negative
seen = {}


def remember(name):
    def hook(module, inputs, output):
        seen[name] = output.detach()

    return hook


hooks = watched(remember)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
for hook in hooks:
    hook.remove()
print({name: f"{(output == 0).float().mean().item():.3f}" for name, output in seen.items()})
