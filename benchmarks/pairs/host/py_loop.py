"""
number = 36
title = "Give the whole batch to each operator"
family = "python_loops"
rule = "python_loop_over_batch"
guard = "exact"
shows_on = "cpu"
published = "in proportion to the batch where the host is the limit (DeepPerf: “not using the batch API”)"

[sizes.mini]
batches = 14
batch = 24
width = 1024

[sizes.cpu]
batches = 200
batch = 24
width = 1024

[sizes.host_bound]
batches = 40
batch = 64
width = 256

[sizes.balanced]
batches = 40
batch = 64
width = 2048

[sizes.device_bound]
batches = 30
batch = 32
width = 8192
"""

# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
samples = size.batches * size.batch
rows = TensorDataset(torch.randn(samples, size.width), torch.randn(samples, size.width))
weights = torch.nn.Parameter(torch.randn(size.width, size.width, device=device) / size.width**0.5)
head = torch.nn.Linear(size.width, 1).to(device)
optimizer = torch.optim.SGD([weights, *head.parameters()], lr=0.01)

# %% bad
for x, y in DataLoader(rows, batch_size=size.batch, drop_last=True):
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    scores = []
    for i in range(len(x)):  # <- python_loop_over_batch
        hidden = torch.tanh(x[i] @ weights)  # <- python_loop_over_batch
        distance = (hidden - y[i]).square().mean()  # <- python_loop_over_batch
        scores.append(distance + head(hidden).squeeze())  # <- python_loop_over_batch
    loss = torch.stack(scores).mean()
    loss.backward()
    optimizer.step()

# %% good
for x, y in DataLoader(rows, batch_size=size.batch, drop_last=True):
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    hidden = torch.tanh(x @ weights)
    distance = (hidden - y).square().mean(dim=1)
    scores = distance + head(hidden).squeeze(1)
    loss = scores.mean()
    loss.backward()
    optimizer.step()
