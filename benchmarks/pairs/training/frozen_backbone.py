"""
number = 76
title = "No gradients for what is not trained"
family = "transfer"
rule = "gradients_unused"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
photos = 128
batch = 16
pixels = 16
channels = 8

[sizes.cpu]
photos = 1536
batch = 32
pixels = 32
channels = 32

[sizes.host_bound]
photos = 1024
batch = 16
pixels = 32
channels = 16

[sizes.balanced]
photos = 4096
batch = 128
pixels = 64
channels = 64

[sizes.device_bound]
photos = 8192
batch = 256
pixels = 96
channels = 128

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the backbone is trained along, slowly: its gradients are used"
"""

# %% setup
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


def convolved(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))


class Classifier(nn.Module):
    """A backbone, trained elsewhere, and a head for five new kinds."""

    def __init__(self):
        super().__init__()
        channels = size.channels
        self.backbone = nn.Sequential(
            convolved(3, channels),
            convolved(channels, 2 * channels),
            convolved(2 * channels, 4 * channels),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Linear(4 * channels, 5)

    def forward(self, x):
        return self.head(self.backbone(x))


photos = TensorDataset(torch.randn(size.photos, 3, size.pixels, size.pixels), torch.randint(0, 5, (size.photos,)))
loader = DataLoader(photos, batch_size=size.batch, pin_memory=device == "cuda")
model = Classifier().to(device)

# %% bad
# only the head is trained
optimizer = torch.optim.Adam(model.head.parameters(), lr=0.001, fused=True)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    model.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()  # <- gradients_unused
    optimizer.step()

# %% good
# only the head is trained
optimizer = torch.optim.Adam(model.head.parameters(), lr=0.001, fused=True)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    with torch.no_grad():
        features = model.backbone(x)
    loss = nn.functional.cross_entropy(model.head(features), y)
    loss.backward()
    optimizer.step()

# %% negative
slowly = {"params": model.backbone.parameters(), "lr": 1e-5}
optimizer = torch.optim.Adam([slowly, {"params": model.head.parameters()}], lr=0.001, fused=True)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    model.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
