"""
number = 25
title = "The fused optimizer"
family = "optimizers"
rule = "unfused_optimizer"
guard = "exact"
shows_on = "cpu"
published = "1.03× (93 → 90 ms a step, GPT-2 124M, A100; Karpathy)"

[sizes.mini]
steps = 30
layers = 20
width = 64
batch = 32

[sizes.cpu]
steps = 800
layers = 20
width = 64
batch = 32

[sizes.host_bound]
steps = 60
layers = 100
width = 128
batch = 32

[sizes.balanced]
steps = 60
layers = 60
width = 1024
batch = 256

[sizes.device_bound]
steps = 40
layers = 24
width = 4096
batch = 4096
"""

# %% setup
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    *(layer for _ in range(size.layers) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.ReLU()))
).to(device)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randn(size.batch, size.width, device=device)

# %% bad
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()  # <- unfused_optimizer

# %% good
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
