"""
number = 35
title = "Evaluate without gradients"
family = "inference"
rule = "grad_in_inference"
guard = "exact"
shows_on = "cpu"
gain = "memory"
published = "nobody: measure (memory)"

[sizes.mini]
samples = 4096
batch = 512
width = 256
layers = 32

[sizes.host_bound]
samples = 8192
batch = 128
width = 512
layers = 48

[sizes.balanced]
samples = 32768
batch = 1024
width = 2048
layers = 48

[sizes.device_bound]
samples = 131072
batch = 8192
width = 4096
layers = 48
"""

# %% setup
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
batches = [
    (torch.randn(size.batch, size.width), torch.randint(0, 10, (size.batch,)))
    for _ in range(size.samples // size.batch)
]
model = torch.nn.Sequential(
    *(layer for _ in range(size.layers) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.GELU())),
    torch.nn.Linear(size.width, 10),
).to(device)
model.eval()

# %% bad
losses, right = [], torch.zeros((), device=device)
for x, y in DataLoader(batches, batch_size=None):  # <- grad_in_inference
    x, y = x.to(device), y.to(device)
    scores = model(x)  # <- grad_in_inference
    right += (scores.argmax(dim=1) == y).sum()
    losses.append(torch.nn.functional.cross_entropy(scores, y).detach())
losses = [float(loss) for loss in losses]

# %% good
losses, right = [], torch.zeros((), device=device)
with torch.inference_mode():
    for x, y in DataLoader(batches, batch_size=None):
        x, y = x.to(device), y.to(device)
        scores = model(x)
        right += (scores.argmax(dim=1) == y).sum()
        losses.append(torch.nn.functional.cross_entropy(scores, y))
losses = [float(loss) for loss in losses]
