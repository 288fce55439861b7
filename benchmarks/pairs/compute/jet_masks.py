"""
number = 73
title = "Cut each batch to its own longest sample"
family = "particles"
rule = "padding_waste"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
jets = 512
batch = 32
longest = 128
width = 32

[sizes.cpu]
jets = 3840
batch = 32
longest = 128
width = 128

[sizes.host_bound]
jets = 4096
batch = 32
longest = 128
width = 128

[sizes.balanced]
jets = 8192
batch = 256
longest = 200
width = 512

[sizes.device_bound]
jets = 16384
batch = 512
longest = 200
width = 2048

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "a mask comes along here too, and cuts nothing: nearly all places are taken"
"""

# %% setup
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, default_collate

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
rng = np.random.default_rng(0)
# simulated in order of energy: the more of it, the more particles
counts = np.linspace(12, 0.6 * size.longest, size.jets).astype(int) + rng.integers(0, 4, size.jets)


def stored(counts):
    """As on the disk: particles x (energy, x, y, z), and which places are taken."""
    taken = np.arange(size.longest)[None, :] < counts[:, None]
    particles = rng.normal(size=(size.jets, size.longest, 4)).astype(np.float32) * taken[:, :, None]
    return torch.from_numpy(particles), torch.from_numpy(taken), torch.from_numpy(counts % 2)


class Jets(Dataset):
    def __init__(self, arrays):
        self.particles, self.taken, self.kinds = arrays

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        return {"particles": self.particles[index], "mask": self.taken[index], "kind": self.kinds[index]}


class Flow(nn.Module):
    """What each particle says, summed over the jet."""

    def __init__(self):
        super().__init__()
        self.each = nn.Sequential(
            nn.Linear(4, size.width),
            nn.ReLU(),
            nn.Linear(size.width, size.width),
            nn.ReLU(),
            nn.Linear(size.width, size.width),
            nn.ReLU(),
        )
        self.all = nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU(), nn.Linear(size.width, 2))

    def forward(self, particles, mask):
        said = self.each(particles) * mask[:, :, None]
        return self.all(said.sum(dim=1) / 100)


model = Flow().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
jets = Jets(stored(counts))
pin = device == "cuda"

# %% bad
loader = DataLoader(jets, batch_size=size.batch, pin_memory=pin)
for batch in loader:  # <- padding_waste
    particles, mask, kind = (value.to(device, non_blocking=True) for value in batch.values())
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(particles, mask), kind)  # <- padding_waste
    loss.backward()
    optimizer.step()


# %% good
def cut(samples):
    """A batch without the places that none of its jets takes."""
    batch = default_collate(samples)
    longest = int(batch["mask"].sum(dim=1).max())
    return {**batch, "particles": batch["particles"][:, :longest], "mask": batch["mask"][:, :longest]}


loader = DataLoader(jets, batch_size=size.batch, collate_fn=cut, pin_memory=pin)
for batch in loader:
    particles, mask, kind = (value.to(device, non_blocking=True) for value in batch.values())
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(particles, mask), kind)
    loss.backward()
    optimizer.step()

# %% negative
full = Jets(stored(np.full(size.jets, size.longest) - rng.integers(0, 5, size.jets)))
loader = DataLoader(full, batch_size=size.batch, pin_memory=pin)
for batch in loader:
    particles, mask, kind = (value.to(device, non_blocking=True) for value in batch.values())
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(particles, mask), kind)
    loss.backward()
    optimizer.step()
