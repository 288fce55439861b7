"""
number = 31
title = "Let cuDNN choose for fixed shapes"
family = "convolution_choice"
rule = "conv_autotune_off"
guard = "numerics"
shows_on = "cuda"
published = "a rule of PyTorch's tuning guide, without a figure; slower with varying sizes"

[sizes.mini]
images = 2
pixels = 16
channels = 8
layers = 3
steps = 6

[sizes.host_bound]
images = 4
pixels = 32
channels = 32
layers = 12
steps = 30

[sizes.balanced]
images = 32
pixels = 64
channels = 96
layers = 12
steps = 24

[sizes.device_bound]
images = 128
pixels = 96
channels = 128
layers = 12
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "every step has pictures of another size: each would be timed anew"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
with torch.device(device):
    layers = [nn.Conv2d(8 if not n else size.channels, size.channels, 3, padding=1) for n in range(size.layers)]
    model = nn.Sequential(
        *(part for layer in layers for part in (layer, nn.ReLU())),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(size.channels, 10),
    ).to(memory_format=torch.channels_last)
    images = torch.randn(size.images, 8, size.pixels, size.pixels).to(memory_format=torch.channels_last)
    kinds = torch.randint(0, 10, (size.images,))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
torch.backends.cudnn.benchmark = False
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images), kinds)  # <- conv_autotune_off
    loss.backward()  # <- conv_autotune_off
    optimizer.step()

# %% good
torch.backends.cudnn.benchmark = True
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images), kinds)
    loss.backward()
    optimizer.step()

# %% negative
torch.backends.cudnn.benchmark = False
for step in range(size.steps):
    edge = size.pixels - step % (size.pixels // 2)
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images[:, :, :edge, :edge]), kinds)
    loss.backward()
    optimizer.step()
