"""
number = 8
title = "Copy bytes, make floats on the device"
family = "transfers_wide"
rule = ["widened_before_copy", "pageable_h2d_copy", "host_cpu_bound"]
guard = "exact"
shows_on = "cuda"
published = "a quarter of the bytes (analytic)"

[sizes.mini]
images = 8
pixels = 32
width = 64
layers = 1
steps = 8

[sizes.host_bound]
images = 8
pixels = 64
width = 256
layers = 40
steps = 24

[sizes.balanced]
images = 256
pixels = 224
width = 3072
layers = 4
steps = 24

[sizes.device_bound]
images = 256
pixels = 224
width = 4096
layers = 6
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

pin = torch.Tensor.pin_memory if device == "cuda" else torch.Tensor.clone
shape = (size.images, 3, size.pixels, size.pixels)
photos = [pin(torch.randint(0, 256, shape, dtype=torch.uint8)) for _ in range(4)]
kinds = [torch.randint(0, 10, (size.images,), device=device) for _ in range(4)]
patches = nn.PixelUnshuffle(16)
features = 3 * 16 * 16
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    head = nn.Sequential(nn.Linear(features, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 10))
optimizer = torch.optim.SGD(head.parameters(), lr=1e-3)


def classify(x):
    """What the patches of each picture say, on average."""
    return head(patches(x).flatten(2).transpose(1, 2)).mean(dim=1)


# %% bad
for step in range(size.steps):
    x = photos[step % 4].float().div_(255).to(device)  # <- widened_before_copy
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(classify(x), kinds[step % 4])
    loss.backward()
    optimizer.step()

# %% good
for step in range(size.steps):
    x = photos[step % 4].to(device, non_blocking=True).float().div_(255)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(classify(x), kinds[step % 4])
    loss.backward()
    optimizer.step()
