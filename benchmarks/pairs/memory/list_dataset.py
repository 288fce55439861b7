"""
number = 43
title = "An array instead of Python objects in the dataset"
family = "host_memory"
rule = []
guard = "exact"
shows_on = "cpu"
gain = "memory"
published = "the workers' memory grows with every sample that they touch (pytorch #13246); nobody gives a factor"

[sizes.mini]
samples = 100000
batch = 2000
width = 256

[sizes.host_bound]
samples = 1000000
batch = 2000
width = 512

[sizes.balanced]
samples = 1000000
batch = 4000
width = 4096

[sizes.device_bound]
samples = 1000000
batch = 8000
width = 16384
"""

# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(2, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, 1),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
points = np.random.default_rng(0).normal(size=(size.samples, 3)).astype(np.float32)


class Points(Dataset):
    def __init__(self, points):
        self.points = points

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index]


def collate(samples):
    return torch.from_numpy(np.array(samples, dtype=np.float32))


# %% bad
dataset = Points([tuple(map(float, point)) for point in points])
for batch in DataLoader(dataset, batch_size=size.batch, num_workers=2, collate_fn=collate):
    batch = batch.to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(batch[:, :2]), batch[:, 2:])
    loss.backward()
    optimizer.step()

# %% good
dataset = Points(points)
for batch in DataLoader(dataset, batch_size=size.batch, num_workers=2, collate_fn=collate):
    batch = batch.to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(batch[:, :2]), batch[:, 2:])
    loss.backward()
    optimizer.step()
