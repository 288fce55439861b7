"""
number = 50
title = "Compile for changing shapes"
family = "compiling"
rule = "recompiles_in_steady_state"
guard = "numerics"
shows_on = "cpu"
whole_cell = true
published = "orders of magnitude in the first steps; nobody gives a number"

[sizes.mini]
steps = 40
batch = 4
width = 32
layers = 2
backend = "eager"

[sizes.host_bound]
steps = 40
batch = 8
width = 256
layers = 2
backend = "inductor"

[sizes.balanced]
steps = 40
batch = 32
width = 1024
layers = 2
backend = "inductor"

[sizes.device_bound]
steps = 40
batch = 128
width = 4096
layers = 2
backend = "inductor"
"""

# %% setup
import torch

torch.manual_seed(0)
layer = torch.nn.Sequential(
    *(layer for _ in range(size.layers) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.GELU()))
).to(device)
head = torch.nn.Linear(size.width, 10).to(device)
optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.01)
lengths = [8 + step // 5 for step in range(size.steps)]
batches = [torch.randn(size.batch, length, size.width, device=device) for length in lengths]
kinds = torch.randint(0, 10, (size.batch,), device=device)


def loss_of(x):
    return torch.nn.functional.cross_entropy(head(layer(x).mean(dim=1)), kinds)


# %% bad
torch.compiler.reset()
compiled = torch.compile(loss_of, dynamic=False, backend=size.backend)
for x in batches:
    optimizer.zero_grad()
    loss = compiled(x)  # <- recompiles_in_steady_state
    loss.backward()
    optimizer.step()

# %% good
torch.compiler.reset()
compiled = torch.compile(loss_of, dynamic=True, backend=size.backend)
for x in batches:
    optimizer.zero_grad()
    loss = compiled(x)
    loss.backward()
    optimizer.step()
