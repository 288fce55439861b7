"""
number = 61
title = "The fused optimizer, with parameter groups"
family = "parameter_groups"
rule = "unfused_optimizer"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
steps = 16
blocks = 8
width = 32
batch = 32
larger = 512
accumulate = 8

[sizes.cpu]
steps = 224
blocks = 32
width = 48
batch = 64
larger = 512
accumulate = 16

[sizes.host_bound]
steps = 64
blocks = 48
width = 128
batch = 64
larger = 1024
accumulate = 16

[sizes.balanced]
steps = 64
blocks = 32
width = 1024
batch = 512
larger = 4096
accumulate = 16

[sizes.device_bound]
steps = 48
blocks = 24
width = 4096
batch = 4096
larger = 8192
accumulate = 16

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.masked]
rules = []
why = "gradients of 16 large batches are summed before each step of the optimizer: it takes next to no time"
"""

# %% setup
import torch

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(size.width)
        self.wide = torch.nn.Linear(size.width, 2 * size.width)
        self.back = torch.nn.Linear(2 * size.width, size.width)

    def forward(self, x):
        return x + self.back(torch.nn.functional.gelu(self.wide(self.norm(x))))


backbone = torch.nn.Sequential(*(Block() for _ in range(size.blocks))).to(device)
head = torch.nn.Linear(size.width, 10).to(device)
groups = [
    {"params": [p for p in backbone.parameters() if p.ndim > 1], "lr": 1e-4, "weight_decay": 0.01},
    {"params": [p for p in backbone.parameters() if p.ndim == 1], "lr": 1e-4, "weight_decay": 0.0},
    {"params": [head.weight], "lr": 1e-3, "weight_decay": 0.01},
    {"params": [head.bias], "lr": 1e-3, "weight_decay": 0.0},
]
x = torch.randn(size.larger, size.width, device=device)
y = torch.randint(0, 10, (size.larger,), device=device)

# %% bad
optimizer = torch.optim.AdamW(groups, foreach=False)
for step in range(size.steps):
    rows = slice(step % 4 * size.batch, (step % 4 + 1) * size.batch)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(head(backbone(x[rows])), y[rows])
    loss.backward()
    optimizer.step()  # <- unfused_optimizer

# %% good
optimizer = torch.optim.AdamW(groups, fused=True)
for step in range(size.steps):
    rows = slice(step % 4 * size.batch, (step % 4 + 1) * size.batch)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(head(backbone(x[rows])), y[rows])
    loss.backward()
    optimizer.step()

# %% masked
optimizer = torch.optim.AdamW(groups, foreach=False)
for step in range(size.steps // 2):
    loss = torch.nn.functional.cross_entropy(head(backbone(x)), y) / size.accumulate
    loss.backward()
    if (step + 1) % size.accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
