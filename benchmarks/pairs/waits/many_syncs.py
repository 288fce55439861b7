"""
number = 13
title = "Look for broken gradients on the device"
family = "host_syncs_checks"
rule = ["sync_in_step", "python_loop_over_weights"]
guard = "exact"
shows_on = "cuda"
published = "1.18× (151.2 → 127.9 ms, 276 of 348 waits gone; fairchem #2193)"

[sizes.mini]
rows = 64
width = 64
layers = 6
steps = 12

[sizes.host_bound]
rows = 128
width = 256
layers = 40
steps = 30

[sizes.balanced]
rows = 4096
width = 1024
layers = 40
steps = 30

[sizes.device_bound]
rows = 8192
width = 4096
layers = 12
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(*hidden, nn.Linear(size.width, 10))
    x = torch.randn(size.rows, size.width)
    y = torch.randint(0, 10, (size.rows,))
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=1e-2)

# %% bad
broken = 0
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    for parameter in parameters:  # <- python_loop_over_weights
        if not torch.isfinite(parameter.grad).all():  # <- sync_in_step
            broken += 1
    optimizer.step()
print(f"{broken} gradients were not finite")

# %% good
broken = torch.zeros((), dtype=torch.long, device=device)
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    norms = torch.stack(torch._foreach_norm([parameter.grad for parameter in parameters]))
    broken += (~torch.isfinite(norms)).sum()
    optimizer.step()
print(f"{int(broken)} gradients were not finite")
