"""
number = 41
title = "The longest shapes first"
family = "memory_shapes"
rule = ["fragmented_memory", "allocator_calls_in_step"]
guard = "training"
shows_on = "cuda"
gain = "memory"
published = "memory, and no more failed or retried allocations (PyTorch's tuning guide)"

[sizes.mini]
batch = 2
longest = 24
width = 32
layers = 2
steps = 8

[sizes.host_bound]
batch = 16
longest = 1024
width = 256
layers = 4
steps = 24

[sizes.balanced]
batch = 32
longest = 1024
width = 1024
layers = 4
steps = 24

[sizes.device_bound]
batch = 48
longest = 1024
width = 1024
layers = 4
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.GELU()) for _ in range(size.layers)]
    model = nn.Sequential(*hidden, nn.Linear(size.width, size.width))
    texts = torch.randn(size.batch, size.longest, size.width)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
lengths = [size.longest * (step + 1) // size.steps for step in range(size.steps)]


def train(lengths):
    """One step for each length; the last loss."""
    for length in lengths:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(texts[:, :length]), texts[:, :length])
        loss.backward()
        optimizer.step()
    return loss.detach()


if device == "cuda":
    # a smaller card: one that the growing lengths just fill
    train(lengths)
    needed = torch.cuda.max_memory_reserved() / torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.set_per_process_memory_fraction(needed / 0.93)

# %% bad
for length in lengths:  # <- fragmented_memory
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(texts[:, :length]), texts[:, :length])
    loss.backward()
    optimizer.step()

# %% good
for length in reversed(lengths):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(texts[:, :length]), texts[:, :length])
    loss.backward()
    optimizer.step()
