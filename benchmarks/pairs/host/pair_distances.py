"""
number = 59
title = "All distances by broadcasting"
family = "metric_learning"
rule = "python_loop_over_batch"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
batches = 12
batch = 12
width = 64
ways = 5

[sizes.cpu]
batches = 84
batch = 24
width = 1024
ways = 5

[sizes.host_bound]
batches = 40
batch = 32
width = 256
ways = 5

[sizes.balanced]
batches = 40
batch = 32
width = 4096
ways = 5

[sizes.device_bound]
batches = 30
batch = 32
width = 16384
ways = 5

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the loop runs over five prototypes and compares the whole batch with each"
"""

# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
samples = size.batches * size.batch
people = torch.randint(0, 8, (samples,))
photos = TensorDataset(torch.randn(samples, 512) + people[:, None] / 8, people)
encoder = torch.nn.Sequential(
    torch.nn.Linear(512, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, 64),
).to(device)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.001)
loader = DataLoader(photos, batch_size=size.batch, pin_memory=device == "cuda")


def contrastive(distances, who):
    same = (who[:, None] == who[None, :]).float()
    return (same * distances + (1 - same) * (1 - distances).clamp(min=0)).mean()


# %% bad
for x, who in loader:
    x, who = x.to(device, non_blocking=True), who.to(device, non_blocking=True)
    optimizer.zero_grad()
    embedded = torch.nn.functional.normalize(encoder(x))
    rows = []
    for i in range(len(embedded)):  # <- python_loop_over_batch
        row = []
        for j in range(len(embedded)):  # <- python_loop_over_batch
            row.append((embedded[i] - embedded[j]).square().sum())  # <- python_loop_over_batch
        rows.append(torch.stack(row))  # <- python_loop_over_batch
    loss = contrastive(torch.stack(rows), who)
    loss.backward()
    optimizer.step()

# %% good
for x, who in loader:
    x, who = x.to(device, non_blocking=True), who.to(device, non_blocking=True)
    optimizer.zero_grad()
    embedded = torch.nn.functional.normalize(encoder(x))
    distances = (embedded[:, None] - embedded[None, :]).square().sum(dim=2)
    loss = contrastive(distances, who)
    loss.backward()
    optimizer.step()

# %% negative
prototypes = torch.nn.functional.normalize(torch.randn(size.ways, 64, device=device))
for x, who in loader:
    x, who = x.to(device, non_blocking=True), who.to(device, non_blocking=True)
    optimizer.zero_grad()
    embedded = torch.nn.functional.normalize(encoder(x))
    distances = []
    for k in range(len(prototypes)):
        distances.append((embedded - prototypes[k]).square().sum(dim=1))
    loss = torch.nn.functional.cross_entropy(-torch.stack(distances, dim=1), who % size.ways)
    loss.backward()
    optimizer.step()
