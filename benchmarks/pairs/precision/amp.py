"""
number = 20
title = "Mixed precision"
family = "precision_amp"
rule = "fp32_matmul"
guard = "numerics"
shows_on = "cuda"
published = "2–3× over fp32 (PyTorch's AMP recipe); 1.11× over TF32 (333 → 300 ms, Karpathy)"

[sizes.mini]
batch = 2
length = 16
width = 64
layers = 2
steps = 8

[sizes.host_bound]
batch = 4
length = 64
width = 256
layers = 6
steps = 30

[sizes.balanced]
batch = 16
length = 256
width = 768
layers = 6
steps = 24

[sizes.device_bound]
batch = 32
length = 512
width = 1024
layers = 6
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = ["launch_bound"]
why = "a net of tiny layers: the host is the bottleneck, and casting makes more kernels to launch"

[variants.masked]
rules = ["unfused_pointwise"]
why = "the products use TF32 already: what bf16 still gains is a tenth, and fp32 arithmetic is no longer the cause"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)


def encoder(width, layers):
    """Encoder blocks with an output of the same width."""
    block = nn.TransformerEncoderLayer(width, max(width // 64, 1), 4 * width, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(block, layers, enable_nested_tensor=False)


with torch.device(device):
    model = encoder(size.width, size.layers)
    x = torch.randn(size.batch, size.length, size.width)
    y = torch.randn(size.batch, size.length, size.width)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

# %% bad
torch.set_float32_matmul_precision("highest")
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # <- fp32_matmul
    loss.backward()
    optimizer.step()

# %% good
torch.set_float32_matmul_precision("highest")
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x).float(), y)
    loss.backward()
    optimizer.step()

# %% negative
torch.set_float32_matmul_precision("highest")
small = encoder(32, 6).to(device)
optimizer = torch.optim.SGD(small.parameters(), lr=1e-2)
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(small(x[:2, :16, :32]), y[:2, :16, :32])
    loss.backward()
    optimizer.step()

# %% masked
torch.set_float32_matmul_precision("high")
for _ in range(size.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
