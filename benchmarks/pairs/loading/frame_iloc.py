"""
number = 53
title = "Turn a data frame into tensors once"
family = "tables"
rule = "input_stall"
guard = "exact"
shows_on = "cpu"
whole_cell = true
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
rows = 256
batch = 64
columns = 24
width = 256
epochs = 2

[sizes.cpu]
rows = 3072
batch = 64
columns = 24
width = 1024
epochs = 2

[sizes.host_bound]
rows = 16384
batch = 64
columns = 24
width = 512
epochs = 2

[sizes.balanced]
rows = 32768
batch = 256
columns = 48
width = 4096
epochs = 2

[sizes.device_bound]
rows = 32768
batch = 512
columns = 48
width = 16384
epochs = 2

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the frame is asked by position too, but once for each split, not for each sample"
"""

# %% setup
import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
features = [f"feature_{column}" for column in range(size.columns)]
frame = pd.DataFrame(rng.normal(size=(size.rows, size.columns)), columns=features)
frame["visits"] = rng.integers(0, 40, size.rows)
frame["churned"] = (frame["feature_0"] + rng.normal(size=size.rows) > 0).astype(int)
features.append("visits")
model = torch.nn.Sequential(
    torch.nn.Linear(len(features), size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, 2),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
pin = device == "cuda"


# %% bad
class Customers(Dataset):
    def __init__(self, frame):
        self.frame = frame

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        x = torch.tensor(row[features].to_numpy(dtype=np.float32))
        return x, int(row["churned"])


loader = DataLoader(Customers(frame), batch_size=size.batch, shuffle=True, pin_memory=pin)  # <- input_stall
losses = []
for epoch in range(size.epochs):
    total = torch.zeros((), device=device)
    for x, y in loader:  # <- input_stall
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    losses.append(total.item() / len(loader))

# %% good
customers = TensorDataset(
    torch.tensor(frame[features].to_numpy(dtype=np.float32)), torch.tensor(frame["churned"].to_numpy())
)

loader = DataLoader(customers, batch_size=size.batch, shuffle=True, pin_memory=pin)
losses = []
for epoch in range(size.epochs):
    total = torch.zeros((), device=device)
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    losses.append(total.item() / len(loader))

# %% negative
order = np.random.default_rng(1).permutation(len(frame))
cut = len(frame) * 7 // 8
train, held_out = frame.iloc[order[:cut]], frame.iloc[order[cut:]]
print(train.iloc[0][features].head(3))


def tensors(part):
    return torch.tensor(part[features].to_numpy(dtype=np.float32)), torch.tensor(part["churned"].to_numpy())


loader = DataLoader(TensorDataset(*tensors(train)), batch_size=size.batch, shuffle=True, pin_memory=pin)
losses = []
for epoch in range(size.epochs):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, y = (part.to(device) for part in tensors(held_out))
        losses.append(torch.nn.functional.cross_entropy(model(x), y).item())
