"""
number = 10
title = "No more workers than cores"
family = "worker_processes"
rule = ["workers_oversubscribed", "input_stall"]
guard = "exact"
shows_on = "cpu"
whole_cell = true
published = "a plateau past about 20 workers, then contention (Lotus)"

[sizes.mini]
samples = 256
batch = 8
workers = 16
fitting = 1
tiles = 6
width = 512
hidden = 1800

[sizes.cpu]
samples = 1024
batch = 8
workers = 16
fitting = 1
tiles = 6
width = 512
hidden = 1800

[sizes.host_bound]
samples = 4096
batch = 16
workers = 64
fitting = 8
tiles = 4
width = 512
hidden = 512

[sizes.balanced]
samples = 4096
batch = 32
workers = 64
fitting = 8
tiles = 8
width = 512
hidden = 4096

[sizes.device_bound]
samples = 4096
batch = 64
workers = 64
fitting = 8
tiles = 8
width = 512
hidden = 16384
"""

# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Spectra(Dataset):
    """Signals that are windowed and transformed when they are asked for."""

    def __init__(self, count):
        self.signals = np.random.default_rng(0).normal(size=(count, 2 * size.width - 2)).astype(np.float32)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        signal = self.signals[index] * np.hanning(len(self.signals[index]))
        spectrum = sum(np.abs(np.fft.rfft(np.roll(signal, shift))) for shift in range(size.tiles))
        return torch.from_numpy(spectrum.astype(np.float32)), index % 10


spectra = Spectra(size.samples)
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.hidden),
    torch.nn.ReLU(),
    torch.nn.Linear(size.hidden, size.hidden),
    torch.nn.ReLU(),
    torch.nn.Linear(size.hidden, 10),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

# %% bad
loader = DataLoader(spectra, batch_size=size.batch, num_workers=size.workers)  # <- workers_oversubscribed
for x, y in loader:  # <- workers_oversubscribed
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()

# %% good
loader = DataLoader(spectra, batch_size=size.batch, num_workers=size.fitting)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
