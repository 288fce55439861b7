"""
number = 11
title = "One thread in each worker"
family = "worker_processes"
rule = ["workers_oversubscribed", "input_stall"]
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[sizes.mini]
samples = 192
batch = 8
workers = 1
threads = 16
tiles = 10
width = 512
hidden = 2400

[sizes.cpu]
samples = 1200
batch = 8
workers = 1
threads = 16
tiles = 10
width = 512
hidden = 2400

[sizes.host_bound]
samples = 2048
batch = 16
workers = 8
threads = 16
tiles = 32
width = 512
hidden = 512

[sizes.balanced]
samples = 2048
batch = 32
workers = 8
threads = 16
tiles = 32
width = 512
hidden = 4096

[sizes.device_bound]
samples = 2048
batch = 32
workers = 8
threads = 16
tiles = 32
width = 512
hidden = 16384
"""

# %% setup
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


def spectrum_of(signal):
    return np.abs(np.fft.rfft(signal))


class Spectra(Dataset):
    """Tiles of a signal, transformed by `threads` threads of the worker, as an imaging library does by default."""

    def __init__(self, count, threads):
        self.signals = np.random.default_rng(0).normal(size=(count, 2 * size.width - 2))
        self.threads = threads

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        tiles = [np.roll(self.signals[index], shift) for shift in range(size.tiles)]
        if self.threads > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                spectra = list(pool.map(spectrum_of, tiles))
        else:
            spectra = list(map(spectrum_of, tiles))
        return torch.from_numpy(np.mean(spectra, axis=0).astype(np.float32)), index % 10


model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.hidden),
    torch.nn.ReLU(),
    torch.nn.Linear(size.hidden, size.hidden),
    torch.nn.ReLU(),
    torch.nn.Linear(size.hidden, 10),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

# %% bad
spectra = Spectra(size.samples, threads=size.threads)
loader = DataLoader(spectra, batch_size=size.batch, num_workers=size.workers)  # <- workers_oversubscribed
for x, y in loader:  # <- workers_oversubscribed
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()

# %% good
spectra = Spectra(size.samples, threads=1)
loader = DataLoader(spectra, batch_size=size.batch, num_workers=size.workers)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
