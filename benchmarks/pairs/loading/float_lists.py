"""
number = 56
title = "Keep records as arrays, not as lists of floats"
family = "records"
rule = "input_stall"
guard = "exact"
shows_on = "cpu"
whole_cell = true
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
records = 512
batch = 64
readings = 400
width = 128
epochs = 2

[sizes.cpu]
records = 2048
batch = 64
readings = 1000
width = 512
epochs = 7

[sizes.host_bound]
records = 4096
batch = 64
readings = 1000
width = 256
epochs = 4

[sizes.balanced]
records = 4096
batch = 128
readings = 1000
width = 4096
epochs = 4

[sizes.device_bound]
records = 4096
batch = 256
readings = 1000
width = 16384
epochs = 4

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "only the one target of each record is a Python float: a list of a few dozen numbers costs next to nothing"
"""

# %% setup
import json

import numpy as np
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
rng = np.random.default_rng(0)
lines = [
    json.dumps({"readings": rng.normal(size=size.readings).round(4).tolist(), "wear": float(rng.normal())})
    for _ in range(size.records)
]
records = [json.loads(line) for line in lines]
model = torch.nn.Sequential(
    torch.nn.Linear(size.readings, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, 1),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
pin = device == "cuda"


# %% bad
def collate(chosen):
    x = torch.tensor([record["readings"] for record in chosen])
    y = torch.tensor([record["wear"] for record in chosen])
    return x, y


loader = DataLoader(records, batch_size=size.batch, shuffle=True, collate_fn=collate, pin_memory=pin)  # <- input_stall
losses = []
for epoch in range(size.epochs):
    for x, y in loader:  # <- input_stall
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())

# %% good
arrays = [(np.array(record["readings"], dtype=np.float32), record["wear"]) for record in records]


def collate(chosen):
    x = torch.from_numpy(np.stack([readings for readings, _ in chosen]))
    y = torch.tensor([wear for _, wear in chosen])
    return x, y


loader = DataLoader(arrays, batch_size=size.batch, shuffle=True, collate_fn=collate, pin_memory=pin)
losses = []
for epoch in range(size.epochs):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())

# %% negative
readings = torch.tensor(np.array([record["readings"] for record in records], dtype=np.float32))


def collate(numbers):
    y = torch.tensor([records[number]["wear"] for number in numbers])
    return readings[numbers], y


numbers = range(len(records))
loader = DataLoader(numbers, batch_size=size.batch, shuffle=True, collate_fn=collate, pin_memory=pin)
losses = []
for epoch in range(size.epochs):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
