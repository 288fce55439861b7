"""
number = 19
title = "Allow TF32 for products"
family = "precision"
rule = "fp32_matmul"
guard = "numerics"
shows_on = "cuda"
published = "3.0× for a GPT-2 on an A100 (1000 → 333 ms, Karpathy); up to 3× (Hugging Face)"

[sizes.mini]
rows = 64
width = 64
layers = 2
steps = 8

[sizes.host_bound]
rows = 256
width = 256
layers = 12
steps = 30

[sizes.balanced]
rows = 4096
width = 2048
layers = 6
steps = 24

[sizes.device_bound]
rows = 4096
width = 6144
layers = 3
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.masked]
rules = ["launch_bound"]
why = "thirty-two layers of 32 features: the host launches too slowly for the arithmetic to matter"

[variants.double]
rules = ["fp32_matmul", "float64_compute"]
why = "full fp32 products, and targets in float64 besides"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)


def layers_of(width, count):
    """So many hidden layers of that width."""
    return [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(count)]


with torch.device(device):
    model = nn.Sequential(*layers_of(size.width, size.layers), nn.Linear(size.width, size.width))
    x = torch.randn(size.rows, size.width)
    y = torch.randn(size.rows, size.width)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
torch.set_float32_matmul_precision("highest")
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # <- fp32_matmul
    loss.backward()
    optimizer.step()

# %% good
torch.set_float32_matmul_precision("high")
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()

# %% masked
torch.set_float32_matmul_precision("highest")
narrow = nn.Sequential(*layers_of(32, 32), nn.Linear(32, 32)).to(device)
optimizer = torch.optim.SGD(narrow.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(narrow(x[:64, :32]), y[:64, :32])
    loss.backward()
    optimizer.step()

# %% double
torch.set_float32_matmul_precision("highest")
exact = torch.from_numpy(y.double().cpu().numpy()).to(device)
for _ in range(size.steps):
    optimizer.zero_grad()
    difference = model(x) - exact  # <- float64_compute
    loss = (difference**2 + 0.1 * difference.abs()).mean()
    loss.backward()
    optimizer.step()
