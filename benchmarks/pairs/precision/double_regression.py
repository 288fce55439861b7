"""
number = 68
title = "Regress in float32"
family = "precision_tables"
rule = "float64_compute"
guard = "numerics"
shows_on = "cpu"
published = "half the bytes, half the vector lanes on a CPU (analytic)"

[first_sight]
found = false
false = []

[sizes.mini]
samples = 2048
batch = 128
columns = 32
width = 128

[sizes.cpu]
samples = 40960
batch = 256
columns = 64
width = 768

[sizes.host_bound]
samples = 20480
batch = 256
columns = 64
width = 512

[sizes.balanced]
samples = 65536
batch = 1024
columns = 64
width = 2048

[sizes.device_bound]
samples = 131072
batch = 4096
columns = 64
width = 8192

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "double precision only where it costs nothing: in the running mean of the loss, one number a step"
"""

# %% setup
import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
rng = np.random.default_rng(0)
table = StandardScaler().fit_transform(rng.normal(size=(size.samples, size.columns)))
price = table[:, :4].sum(axis=1, keepdims=True) + 0.1 * rng.normal(size=(size.samples, 1))


def regressor():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(size.columns, size.width),
        nn.Tanh(),
        nn.Linear(size.width, size.width),
        nn.Tanh(),
        nn.Linear(size.width, 1),
    ).to(device)


# %% bad
x, y = torch.from_numpy(table).to(device), torch.from_numpy(price).to(device)
model = regressor().double()  # <- float64_compute
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for rows in torch.arange(size.samples, device=device).split(size.batch):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])  # <- float64_compute
    loss.backward()  # <- float64_compute
    optimizer.step()

# %% good
x, y = torch.from_numpy(table).float().to(device), torch.from_numpy(price).float().to(device)
model = regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for rows in torch.arange(size.samples, device=device).split(size.batch):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()

# %% negative
x, y = torch.from_numpy(table).float().to(device), torch.from_numpy(price).float().to(device)
model = regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = torch.zeros((), dtype=torch.float64, device=device)
for rows in torch.arange(size.samples, device=device).split(size.batch):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    total += loss.detach()
