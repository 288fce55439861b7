"""
number = 2
title = "Keep the workers from one pass to the next"
family = "input_pipeline"
rule = "workers_restarted"
guard = "exact"
shows_on = "cpu"
whole_cell = true
published = "1.3× (11.5 → 9 s), PyTorch's data-loading tutorial"

[sizes.mini]
epochs = 5
samples = 192
batch = 16
width = 2400

[sizes.cpu]
epochs = 12
samples = 192
batch = 16
width = 2400

[sizes.host_bound]
epochs = 12
samples = 512
batch = 32
width = 512

[sizes.balanced]
epochs = 12
samples = 1024
batch = 64
width = 4096

[sizes.device_bound]
epochs = 12
samples = 1024
batch = 256
width = 16384
"""

# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows = TensorDataset(torch.randn(size.samples, size.width), torch.randint(0, 10, (size.samples,)))
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
loader = DataLoader(rows, batch_size=size.batch, num_workers=2)  # <- workers_restarted
for epoch in range(size.epochs):
    for x, y in loader:  # <- workers_restarted
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()

# %% good
loader = DataLoader(rows, batch_size=size.batch, num_workers=2, persistent_workers=True)
for epoch in range(size.epochs):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
