"""
number = 39
title = "A larger batch"
family = "batch_size"
rule = ["small_batch", "launch_bound"]
guard = "training"
shows_on = "cuda"
published = "time = a + b × batch: nearly the ratio of the batches while a dominates"

[sizes.mini]
samples = 256
batch = 4
larger = 64
width = 64

[sizes.host_bound]
samples = 1024
batch = 4
larger = 64
width = 512

[sizes.balanced]
samples = 2048
batch = 8
larger = 256
width = 2048

[sizes.device_bound]
samples = 4096
batch = 16
larger = 512
width = 8192
"""

# %% setup
import torch

torch.manual_seed(0)
x = torch.randn(size.samples, size.width, device=device)
y = torch.randint(0, 10, (size.samples,), device=device)
model = torch.nn.Sequential(
    *(layer for _ in range(4) for layer in (torch.nn.Linear(size.width, size.width), torch.nn.ReLU())),
    torch.nn.Linear(size.width, 10),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
for first in range(0, size.samples, size.batch):  # <- small_batch
    chosen = slice(first, first + size.batch)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x[chosen]), y[chosen])  # <- launch_bound
    loss.backward()
    optimizer.step()

# %% good
for first in range(0, size.samples, size.larger):
    chosen = slice(first, first + size.larger)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x[chosen]), y[chosen])
    loss.backward()
    optimizer.step()
