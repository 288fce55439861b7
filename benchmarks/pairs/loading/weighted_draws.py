"""
number = 69
title = "Draw all indices of an epoch at once"
family = "imbalanced_classes"
rule = "input_stall"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
payments = 20000
batches = 16
batch = 32
width = 256

[sizes.cpu]
payments = 30000
batches = 120
batch = 64
width = 1024

[sizes.host_bound]
payments = 60000
batches = 60
batch = 64
width = 256

[sizes.balanced]
payments = 60000
batches = 60
batch = 128
width = 4096

[sizes.device_bound]
payments = 60000
batches = 60
batch = 256
width = 16384

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "NumPy draws with the same weights while the loop runs, but a whole batch in each call"
"""

# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
fraud = (torch.rand(size.payments) < 0.02).long()
payments = TensorDataset(torch.randn(size.payments, 30) + fraud[:, None] / 2, fraud)
weights = np.where(fraud.numpy() == 1, 1 / (fraud == 1).sum().item(), 1 / (fraud == 0).sum().item()) / 2
weights /= weights.sum()
model = torch.nn.Sequential(
    torch.nn.Linear(30, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, 2),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
draws, pin = size.batches * size.batch, device == "cuda"


def train(loader):
    """One epoch; returns the last loss."""
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.detach()


# %% bad
class Balanced(Sampler):
    """As many frauds as other payments."""

    def __init__(self, weights, draws):
        self.weights, self.draws = weights, draws

    def __len__(self):
        return self.draws

    def __iter__(self):
        rng = np.random.default_rng(1)
        for _ in range(self.draws):
            yield int(rng.choice(len(self.weights), p=self.weights))  # <- input_stall


loader = DataLoader(payments, batch_size=size.batch, sampler=Balanced(weights, draws), pin_memory=pin)  # <- input_stall
loss = train(loader)  # <- input_stall


# %% good
class Balanced(Sampler):
    """As many frauds as other payments."""

    def __init__(self, weights, draws):
        self.weights, self.draws = weights, draws

    def __len__(self):
        return self.draws

    def __iter__(self):
        rng = np.random.default_rng(1)
        yield from rng.choice(len(self.weights), size=self.draws, p=self.weights).tolist()


loader = DataLoader(payments, batch_size=size.batch, sampler=Balanced(weights, draws), pin_memory=pin)
loss = train(loader)


# %% negative
class BalancedBatches(Sampler):
    """Batches with as many frauds as other payments."""

    def __len__(self):
        return size.batches

    def __iter__(self):
        rng = np.random.default_rng(1)
        for _ in range(size.batches):
            yield rng.choice(len(weights), size=size.batch, p=weights).tolist()


loader = DataLoader(payments, batch_sampler=BalancedBatches(), pin_memory=pin)
loss = train(loader)
