"""
number = 22
title = "Compile the model"
family = "compiling"
rule = ["launch_bound", "unfused_pointwise"]
guard = "numerics"
shows_on = "cuda"
published = "2.3× for a GPT-2 on an A100 (Karpathy); 1.85× (nanoGPT); slower for TSN, 0.50 → 0.61 s (MMAction2)"

[sizes.mini]
batch = 2
length = 16
width = 64
heads = 2
layers = 2
steps = 6

[sizes.host_bound]
batch = 2
length = 64
width = 256
heads = 4
layers = 6
steps = 40

[sizes.balanced]
batch = 8
length = 512
width = 512
heads = 8
layers = 6
steps = 24

[sizes.device_bound]
batch = 32
length = 1024
width = 768
heads = 12
layers = 4
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "nearly all of the time is in products that the library does as fast as the compiler: compiling gains nothing"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Block(nn.Module):
    """One block of a decoder."""

    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.inputs, self.outputs = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
        self.up, self.down = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)

    def forward(self, x):
        parts = self.inputs(self.before(x)).split(size.width, dim=-1)
        q, k, v = (part.unflatten(-1, (size.heads, -1)).transpose(1, 2) for part in parts)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.outputs(attended.transpose(1, 2).flatten(2))
        wide = self.up(self.between(x))
        wide = 0.5 * wide * (1 + torch.tanh(0.7978845608 * (wide + 0.044715 * wide**3)))
        return x + self.down(wide)


with torch.device(device):
    model = nn.Sequential(*(Block() for _ in range(size.layers)))
    x = torch.randn(size.batch, size.length, size.width)
    y = torch.randn(size.batch, size.length, size.width)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
# compiled by the first call; without a device only traced, since building C++ takes its time
compiled = torch.compile(model, backend="inductor" if device == "cuda" else "eager")

# %% bad
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), y)  # <- unfused_pointwise
    loss.backward()
    optimizer.step()

# %% good
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(compiled(x).float(), y)
    loss.backward()
    optimizer.step()

# %% negative
with torch.device(device):
    width = 64 if device == "cpu" else 16 * size.width
    products = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(4)))
    rows = torch.randn(max(size.batch * size.length, 64 if device == "cpu" else 4096), width)
optimizer = torch.optim.SGD(products.parameters(), lr=1e-3)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = products(rows).mean()
    loss.backward()
    optimizer.step()
