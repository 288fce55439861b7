"""
number = 60
title = "All classes at once"
family = "segmenting"
rule = "python_loop_over_slices"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 8
batch = 2
pixels = 32
classes = 20
channels = 8

[sizes.cpu]
steps = 120
batch = 4
pixels = 64
classes = 30
channels = 32

[sizes.host_bound]
steps = 40
batch = 4
pixels = 64
classes = 40
channels = 16

[sizes.balanced]
steps = 40
batch = 8
pixels = 256
classes = 40
channels = 64

[sizes.device_bound]
steps = 30
batch = 16
pixels = 512
classes = 40
channels = 128

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, size.channels, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(size.channels, size.channels, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.Conv2d(size.channels, size.classes, 1),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
streets = [torch.randn(size.batch, 3, size.pixels, size.pixels, device=device) for _ in range(4)]
maps = [torch.randint(0, size.classes, (size.batch, size.pixels, size.pixels), device=device) for _ in range(4)]

# %% bad
for step in range(size.steps):
    x, target = streets[step % 4], maps[step % 4]
    optimizer.zero_grad()
    likely = model(x).softmax(dim=1)
    dice = 0
    for kind in range(size.classes):  # <- python_loop_over_slices
        guessed = likely[:, kind]  # <- python_loop_over_slices
        mask = (target == kind).float()  # <- python_loop_over_slices
        shared = (guessed * mask).sum()  # <- python_loop_over_slices
        dice = dice + (2 * shared + 1) / (guessed.sum() + mask.sum() + 1)  # <- python_loop_over_slices
    loss = 1 - dice / size.classes
    loss.backward()
    optimizer.step()

# %% good
for step in range(size.steps):
    x, target = streets[step % 4], maps[step % 4]
    optimizer.zero_grad()
    likely = model(x).softmax(dim=1)
    masks = torch.zeros_like(likely).scatter_(1, target[:, None], 1)
    shared = (likely * masks).sum(dim=(0, 2, 3))
    dice = ((2 * shared + 1) / (likely.sum(dim=(0, 2, 3)) + masks.sum(dim=(0, 2, 3)) + 1)).sum()
    loss = 1 - dice / size.classes
    loss.backward()
    optimizer.step()
