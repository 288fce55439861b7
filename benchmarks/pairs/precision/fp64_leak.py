"""
number = 21
title = "Keep NumPy’s float64 out of the model"
family = "precision_fp64"
rule = "float64_compute"
guard = "numerics"
shows_on = "cuda"
published = "about 2× where bandwidth is the limit (analytic); the ratio of peaks is 67 to 495 TFLOP/s for products"

[sizes.mini]
rows = 256
inputs = 8
features = 64
width = 64
layers = 1
steps = 8

[sizes.host_bound]
rows = 256
inputs = 8
features = 128
width = 128
layers = 2
steps = 30

[sizes.balanced]
rows = 65536
inputs = 8
features = 512
width = 512
layers = 4
steps = 24

[sizes.device_bound]
rows = 262144
inputs = 64
features = 1024
width = 1024
layers = 4
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

rng = np.random.default_rng(0)
frequencies = rng.normal(size=(size.inputs, size.features))
positions = torch.from_numpy(rng.uniform(-1, 1, size=(size.rows, size.inputs))).to(device)
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.SiLU()) for _ in range(size.layers)]
    model = nn.Sequential(nn.Linear(size.features, size.width), nn.SiLU(), *hidden, nn.Linear(size.width, 1))
    heights = torch.randn(size.rows, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

# %% bad
basis = torch.from_numpy(frequencies).to(device)
for _ in range(size.steps):
    angles = positions @ basis  # <- float64_compute
    waves = torch.cos(angles)  # <- float64_compute
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(waves.float()), heights)
    loss.backward()
    optimizer.step()

# %% good
basis = torch.from_numpy(frequencies.astype("float32")).to(device)
places = positions.float()
for _ in range(size.steps):
    angles = places @ basis
    waves = torch.cos(angles)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(waves), heights)
    loss.backward()
    optimizer.step()
