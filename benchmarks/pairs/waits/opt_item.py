"""
number = 14
title = "Keep the optimizer’s numbers in tensors"
family = "host_syncs"
rule = "sync_in_step"
guard = "exact"
shows_on = "cuda"
published = "the optimizer's step about 50 % faster (Advanced_Optimizers #5)"

[sizes.mini]
steps = 20
layers = 8
width = 32
batch = 8

[sizes.host_bound]
steps = 60
layers = 40
width = 256
batch = 32

[sizes.balanced]
steps = 60
layers = 24
width = 2048
batch = 512

[sizes.device_bound]
steps = 30
layers = 12
width = 8192
batch = 4096
"""

# %% setup
import torch

torch.manual_seed(0)


class ClippedByNorm(torch.optim.Optimizer):
    """SGD that keeps every parameter's step within its norm; reads each norm to decide."""

    def __init__(self, parameters, lr, limit=1.0):
        super().__init__(parameters, {"lr": lr, "limit": limit})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                norm = parameter.grad.norm().item()
                scale = min(1.0, group["limit"] / (norm + 1e-6))
                parameter.add_(parameter.grad, alpha=-group["lr"] * scale)


class ClippedOnDevice(ClippedByNorm):
    """The same, decided on the device."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                scale = (group["limit"] / (parameter.grad.norm() + 1e-6)).clamp(max=1.0)
                parameter.sub_(parameter.grad * (group["lr"] * scale))


model = torch.nn.Sequential(
    *(layer for _ in range(size.layers) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.ReLU()))
).to(device)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randn(size.batch, size.width, device=device)

# %% bad
optimizer = ClippedByNorm(model.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()  # <- sync_in_step

# %% good
optimizer = ClippedOnDevice(model.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
