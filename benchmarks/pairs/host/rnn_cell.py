"""
number = 37
title = "Let the recurrent layer loop over time"
family = "python_loops"
rule = "launch_bound"
guard = "exact"
shows_on = "cuda"
published = "nobody: measure"

[sizes.mini]
steps = 12
batch = 8
length = 20
width = 32

[sizes.host_bound]
steps = 30
batch = 32
length = 100
width = 256

[sizes.balanced]
steps = 30
batch = 256
length = 100
width = 1024

[sizes.device_bound]
steps = 15
batch = 4096
length = 50
width = 2048
"""

# %% setup
import torch

torch.manual_seed(0)
cell = torch.nn.LSTMCell(size.width, size.width).to(device)
layer = torch.nn.LSTM(size.width, size.width, batch_first=True).to(device)
with torch.no_grad():
    for name, value in cell.named_parameters():
        getattr(layer, f"{name}_l0").copy_(value)
x = torch.randn(size.batch, size.length, size.width, device=device)
y = torch.randn(size.batch, size.width, device=device)

# %% bad
optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    hidden = torch.zeros(size.batch, size.width, device=device)
    memory = torch.zeros(size.batch, size.width, device=device)
    for t in range(size.length):
        hidden, memory = cell(x[:, t], (hidden, memory))  # <- launch_bound
    loss = torch.nn.functional.mse_loss(hidden, y)
    loss.backward()
    optimizer.step()

# %% good
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    hidden, _ = layer(x)
    loss = torch.nn.functional.mse_loss(hidden[:, -1], y)
    loss.backward()
    optimizer.step()
