"""
number = 23
title = "Fused attention"
family = "attention"
rule = "eager_attention"
guard = "numerics"
shows_on = "cuda"
published = "1.35× for a GPT-2 on an A100 (130 → 96 ms, Karpathy)"

[sizes.mini]
batch = 2
length = 16
width = 64
heads = 2
layers = 2
steps = 6

[sizes.host_bound]
batch = 4
length = 64
width = 256
heads = 4
layers = 6
steps = 30

[sizes.balanced]
batch = 8
length = 1024
width = 768
heads = 12
layers = 4
steps = 24

[sizes.device_bound]
batch = 8
length = 2048
width = 1024
heads = 16
layers = 4
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.double]
rules = ["eager_attention", "fp32_matmul"]
why = "attention is written out, and everything is fp32 without TF32 as well"
"""

# %% setup
import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Block(nn.Module):
    """One block of a decoder; its attention is the notebook's `attend`."""

    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.inputs, self.outputs = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
        self.wide = nn.Sequential(
            nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width)
        )

    def forward(self, x):
        parts = self.inputs(self.before(x)).split(size.width, dim=-1)
        q, k, v = (part.unflatten(-1, (size.heads, -1)).transpose(1, 2) for part in parts)
        x = x + self.outputs(attend(q, k, v).transpose(1, 2).flatten(2))
        return x + self.wide(self.between(x))


with torch.device(device):
    model = nn.Sequential(*(Block() for _ in range(size.layers)))
    x = torch.randn(size.batch, size.length, size.width)
    y = torch.randn(size.batch, size.length, size.width)
    future = torch.ones(size.length, size.length, dtype=torch.bool).triu(1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


# %% bad
def attend(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # <- eager_attention
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)  # <- eager_attention
    return weights @ v  # <- eager_attention


for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), y)  # <- eager_attention
    loss.backward()
    optimizer.step()


# %% good
def attend(q, k, v):
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), y)
    loss.backward()
    optimizer.step()


# %% double
def attend(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    return weights @ v


torch.set_float32_matmul_precision("highest")
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # <- fp32_matmul
    loss.backward()
    optimizer.step()
