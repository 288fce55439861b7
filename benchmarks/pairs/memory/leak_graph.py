"""
number = 42
title = "Add up numbers, not graphs"
family = "memory_growth"
rule = "memory_grows_per_step"
guard = "exact"
shows_on = "cpu"
gain = "memory"
published = "an out-of-memory error avoided (PyTorch's FAQ: do not accumulate history across the training loop)"

[sizes.mini]
steps = 16
batch = 512
width = 256
layers = 8

[sizes.host_bound]
steps = 60
batch = 2048
width = 512
layers = 12

[sizes.balanced]
steps = 60
batch = 8192
width = 1024
layers = 12

[sizes.device_bound]
steps = 40
batch = 32768
width = 2048
layers = 12
"""

# %% setup
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    *(layer for _ in range(size.layers) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.GELU())),
    torch.nn.Linear(size.width, 10),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randint(0, 10, (size.batch,), device=device)
x_held_out = torch.randn(size.batch, size.width, device=device)

# %% bad
held_out = 0
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    held_out += torch.nn.functional.cross_entropy(model(x_held_out), y)  # <- memory_grows_per_step
held_out = float(held_out.detach())

# %% good
held_out = 0
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    held_out += torch.nn.functional.cross_entropy(model(x_held_out), y).detach()
held_out = float(held_out)
