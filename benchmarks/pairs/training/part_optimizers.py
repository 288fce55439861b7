"""
number = 71
title = "One fused optimizer instead of one for each block"
family = "layerwise_rates"
rule = "unfused_optimizer"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
steps = 12
blocks = 8
width = 32
batch = 32

[sizes.cpu]
steps = 240
blocks = 32
width = 64
batch = 64

[sizes.host_bound]
steps = 64
blocks = 48
width = 128
batch = 64

[sizes.balanced]
steps = 64
blocks = 32
width = 1024
batch = 1024

[sizes.device_bound]
steps = 40
blocks = 24
width = 4096
batch = 4096

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "two optimizers, for the blocks and for the head, and both are fused"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size.width))
        self.shift = nn.Parameter(torch.zeros(size.width))
        self.mix = nn.Linear(size.width, size.width)
        self.gate = nn.Linear(size.width, size.width)

    def forward(self, x):
        x = x * self.scale + self.shift
        return x + self.mix(x) * self.gate(x).sigmoid()


blocks = nn.ModuleList(Mixer() for _ in range(size.blocks)).to(device)
head = nn.Linear(size.width, 5).to(device)
x = torch.randn(size.batch, size.width, device=device)
y = torch.randint(0, 5, (size.batch,), device=device)


def rate(stage):
    """Of four stages, the later ones learn faster."""
    return 1e-4 * 0.5 ** (3 - stage)


def classify(x):
    for block in blocks:
        x = block(x)
    return head(x)


# %% bad
optimizers = [
    torch.optim.Adam(block.parameters(), lr=rate(4 * depth // size.blocks)) for depth, block in enumerate(blocks)
]
optimizers.append(torch.optim.Adam(head.parameters(), lr=1e-3))


def update(loss):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()  # <- unfused_optimizer


for step in range(size.steps):
    loss = nn.functional.cross_entropy(classify(x), y)
    update(loss)  # <- unfused_optimizer

# %% good
quarter = size.blocks // 4
stages = [blocks[stage * quarter : (stage + 1) * quarter] for stage in range(4)]
groups = [{"params": part.parameters(), "lr": rate(stage)} for stage, part in enumerate(stages)]
groups.append({"params": head.parameters(), "lr": 1e-3})
optimizer = torch.optim.Adam(groups, fused=True)


def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for step in range(size.steps):
    loss = nn.functional.cross_entropy(classify(x), y)
    update(loss)

# %% negative
optimizers = [
    torch.optim.Adam(blocks.parameters(), lr=1e-4, fused=True),
    torch.optim.Adam(head.parameters(), lr=1e-3, fused=True),
]


def update(loss):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


for step in range(size.steps):
    loss = nn.functional.cross_entropy(classify(x), y)
    update(loss)
