"""
number = 18
title = "Make random tensors where they are used"
family = "transfers_made"
rule = "host_filled_then_copied"
guard = "training"
shows_on = "cuda"
published = "a rule of PyTorch's tuning guide, without a figure"

[sizes.mini]
rows = 32
features = 256
width = 64
layers = 1
steps = 8

[sizes.host_bound]
rows = 64
features = 256
width = 256
layers = 30
steps = 24

[sizes.balanced]
rows = 1024
features = 4096
width = 4096
layers = 4
steps = 24

[sizes.device_bound]
rows = 4096
features = 1024
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

clean = torch.randn(size.rows, size.features, device=device)
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.SiLU()) for _ in range(size.layers)]
    model = nn.Sequential(
        nn.Linear(size.features, size.width), nn.SiLU(), *hidden, nn.Linear(size.width, size.features)
    )
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

# %% bad
for _ in range(size.steps):
    noise = torch.randn(clean.shape).to(device)  # <- host_filled_then_copied
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(clean + noise), noise)
    loss.backward()
    optimizer.step()

# %% good
for _ in range(size.steps):
    noise = torch.randn(clean.shape, device=device)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(clean + noise), noise)
    loss.backward()
    optimizer.step()
