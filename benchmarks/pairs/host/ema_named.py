"""
number = 62
title = "Average all weights in one call"
family = "weight_averages"
rule = "python_loop_over_weights"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 16
blocks = 8
width = 32
batch = 32

[sizes.cpu]
steps = 360
blocks = 40
width = 64
batch = 64

[sizes.host_bound]
steps = 64
blocks = 48
width = 128
batch = 64

[sizes.balanced]
steps = 64
blocks = 48
width = 512
batch = 1024

[sizes.device_bound]
steps = 48
blocks = 24
width = 4096
batch = 4096

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the same loop over the weights, but once in forty steps"
"""

# %% setup
import torch

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
model = torch.nn.Sequential(
    *(
        layer
        for _ in range(size.blocks)
        for layer in (torch.nn.LayerNorm(size.width), torch.nn.Linear(size.width, size.width), torch.nn.SiLU())
    )
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randn(size.batch, size.width, device=device)

# %% bad
shadow = {name: weight.detach().clone() for name, weight in model.named_parameters()}
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    for name, weight in model.named_parameters():  # <- python_loop_over_weights
        average = 0.999 * shadow[name] + (1 - 0.999) * weight.data  # <- python_loop_over_weights
        shadow[name] = average.clone()  # <- python_loop_over_weights

# %% good
weights = [weight.detach() for weight in model.parameters()]
shadow = [weight.clone() for weight in weights]
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    torch._foreach_lerp_(shadow, weights, 1 - 0.999)

# %% negative
shadow = {name: weight.detach().clone() for name, weight in model.named_parameters()}
for step in range(size.steps):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        for name, weight in model.named_parameters():
            average = 0.96 * shadow[name] + (1 - 0.96) * weight.data
            shadow[name] = average.clone()
