"""
number = 51
title = "Do once what gives the same in every epoch"
family = "input_pipeline"
rule = ["slow_transform", "input_stall"]
guard = "exact"
shows_on = "cpu"
published = "not in the list of pairs: the same result each epoch, made once instead"

[sizes.mini]
samples = 96
batch = 4
points = 131072
width = 1500

[sizes.cpu]
samples = 480
batch = 4
points = 131072
width = 1500

[sizes.host_bound]
samples = 1024
batch = 16
points = 131072
width = 512

[sizes.balanced]
samples = 1024
batch = 32
points = 131072
width = 4096

[sizes.device_bound]
samples = 1024
batch = 64
points = 65536
width = 16384
"""

# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Spectrum:
    """The strength of the lowest frequencies of a signal."""

    def __call__(self, signal):
        lowest = np.abs(np.fft.rfft(signal))[: size.width]
        return torch.from_numpy(lowest.astype(np.float32)) / len(signal) ** 0.5


class Signals(Dataset):
    def __init__(self, count, transform):
        self.signals = np.random.default_rng(0).normal(size=(count, size.points))
        self.transform = transform

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        return self.transform(self.signals[index]), index % 10


class Stored(Dataset):
    """What another dataset gives, made once."""

    def __init__(self, source):
        self.samples = [source[index] for index in range(len(source))]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


signals = Signals(size.samples, Spectrum())
stored = Stored(signals)
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
loader = DataLoader(signals, batch_size=size.batch)  # <- slow_transform
for x, y in loader:  # <- slow_transform
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()

# %% good
loader = DataLoader(stored, batch_size=size.batch)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
