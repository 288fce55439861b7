"""
number = 30
title = "Channels last for convolutions"
family = "convolution_layout"
rule = "nchw_convolution"
guard = "numerics"
shows_on = "cuda"
published = "1.22× and more for ResNet-50 with AMP (258 → 198 ms); 8–35 % (PyTorch's channels_last tutorial)"

[sizes.mini]
images = 2
pixels = 16
channels = 8
blocks = 2
steps = 6

[sizes.host_bound]
images = 4
pixels = 32
channels = 32
blocks = 8
steps = 30

[sizes.balanced]
images = 64
pixels = 64
channels = 128
blocks = 8
steps = 24

[sizes.device_bound]
images = 128
pixels = 112
channels = 128
blocks = 8
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.backends.cudnn.benchmark = True


class Residual(nn.Module):
    """Two convolutions around which the input is carried."""

    def __init__(self):
        super().__init__()
        self.inside = nn.Sequential(
            nn.Conv2d(size.channels, size.channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(size.channels),
            nn.ReLU(),
            nn.Conv2d(size.channels, size.channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(size.channels),
        )

    def forward(self, x):
        return torch.relu(x + self.inside(x))


def network():
    """A stem, residual blocks, and an output for ten classes; each time with the same weights."""
    torch.manual_seed(0)
    with torch.device(device):
        stem = nn.Conv2d(8, size.channels, 3, padding=1, bias=False)
        blocks = (Residual() for _ in range(size.blocks))
        return nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(size.channels, 10))


torch.manual_seed(1)
images = torch.randn(size.images, 8, size.pixels, size.pixels, device=device)
kinds = torch.randint(0, 10, (size.images,), device=device)

# %% bad
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(images), kinds)  # <- nchw_convolution
    loss.backward()  # <- nchw_convolution
    optimizer.step()

# %% good
model = network().to(memory_format=torch.channels_last)
pictures = images.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(pictures), kinds)
    loss.backward()
    optimizer.step()
