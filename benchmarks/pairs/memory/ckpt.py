"""
number = 44
title = "Recompute activations"
family = "memory_activations"
rule = "activations_dominate_peak"
guard = "exact"
shows_on = "cuda"
gain = "memory"
published = "20 % slower, for 2–4× the batch (Hugging Face)"

[sizes.mini]
rows = 64
width = 64
layers = 4
steps = 6

[sizes.host_bound]
rows = 4096
width = 256
layers = 16
steps = 20

[sizes.balanced]
rows = 32768
width = 1024
layers = 12
steps = 20

[sizes.device_bound]
rows = 65536
width = 2048
layers = 6
steps = 12

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Block(nn.Module):
    """A wide layer between two narrow ones."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(
            nn.LayerNorm(size.width),
            nn.Linear(size.width, 4 * size.width),
            nn.GELU(),
            nn.Linear(4 * size.width, size.width),
        )

    def forward(self, x):
        return x + self.wide(x)


with torch.device(device):
    blocks = nn.ModuleList(Block() for _ in range(size.layers))
    x = torch.randn(size.rows, size.width)
    y = torch.randn(size.rows, size.width)
optimizer = torch.optim.SGD(blocks.parameters(), lr=1e-3)

if device == "cuda":
    # a smaller card: one of which a step takes four fifths
    h = x
    for block in blocks:
        h = block(h)
    nn.functional.mse_loss(h, y).backward()
    optimizer.zero_grad()
    del h
    needed = torch.cuda.max_memory_allocated() / torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.set_per_process_memory_fraction(needed / 0.8)

# %% bad
for _ in range(size.steps):
    optimizer.zero_grad()
    h = x
    for block in blocks:
        h = block(h)  # <- activations_dominate_peak
    loss = nn.functional.mse_loss(h, y)
    loss.backward()
    optimizer.step()

# %% good
for _ in range(size.steps):
    optimizer.zero_grad()
    h = x
    for block in blocks:
        h = checkpoint(block, h, use_reentrant=False)
    loss = nn.functional.mse_loss(h, y)
    loss.backward()
    optimizer.step()
