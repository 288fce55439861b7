"""
number = 32
title = "No bias before a batch norm"
family = "convolution_bias"
rule = "conv_bias_before_norm"
guard = "numerics"
shows_on = "cuda"
published = "a rule of PyTorch's tuning guide, 1–2 %, not measured there"

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
channels = 64
layers = 12
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.benchmark = True


def weighted(model):
    """The model with weights that depend on nothing but their shapes."""
    torch.manual_seed(0)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    return model.to(memory_format=torch.channels_last)


def widths():
    """Channels in and out of each layer."""
    return [(8 if not layer else size.channels, size.channels) for layer in range(size.layers)]


with torch.device(device):
    images = torch.randn(size.images, 8, size.pixels, size.pixels).to(memory_format=torch.channels_last)

# %% bad
with torch.device(device):
    model = nn.Sequential()
    for given, made in widths():
        model.extend([nn.Conv2d(given, made, 3, padding=1), nn.BatchNorm2d(made), nn.ReLU()])
model = weighted(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(images).float().square().mean()  # <- conv_bias_before_norm
    loss.backward()  # <- conv_bias_before_norm
    optimizer.step()

# %% good
with torch.device(device):
    model = nn.Sequential()
    for given, made in widths():
        model.extend([nn.Conv2d(given, made, 3, padding=1, bias=False), nn.BatchNorm2d(made), nn.ReLU()])
model = weighted(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(images).float().square().mean()
    loss.backward()
    optimizer.step()
