"""
number = 34
title = "Leave anomaly detection off"
family = "debug_modes"
rule = "debug_mode_on"
guard = "exact"
shows_on = "cpu"
published = "PyTorch's tuning guide: off outside of debugging; nobody gives a number"

[sizes.mini]
batches = 60
batch = 16
width = 64
layers = 6

[sizes.cpu]
batches = 1000
batch = 16
width = 64
layers = 6

[sizes.host_bound]
batches = 60
batch = 32
width = 256
layers = 16

[sizes.balanced]
batches = 60
batch = 512
width = 2048
layers = 16

[sizes.device_bound]
batches = 30
batch = 4096
width = 8192
layers = 8
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

# %% bad
torch.autograd.set_detect_anomaly(True)  # <- debug_mode_on
for step in range(size.batches):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# %% good
torch.autograd.set_detect_anomaly(False)
for step in range(size.batches):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
