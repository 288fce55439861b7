"""
number = 70
title = "Convolve all molecules of the batch together"
family = "molecules"
rule = "python_loop_over_batch"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 10
batch = 16
atoms = 12
width = 32
layers = 2

[sizes.cpu]
steps = 120
batch = 48
atoms = 20
width = 96
layers = 3

[sizes.host_bound]
steps = 40
batch = 64
atoms = 32
width = 128
layers = 3

[sizes.balanced]
steps = 30
batch = 128
atoms = 64
width = 1024
layers = 3

[sizes.device_bound]
steps = 30
batch = 64
atoms = 128
width = 4096
layers = 4

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "`map` goes over three kinds of bonds, each for the whole batch"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
atoms = torch.randn(4, size.batch, size.atoms, 16, device=device)
joined = (torch.rand(4, size.batch, size.atoms, size.atoms, device=device) < 0.2).float()
bonds = ((joined + joined.transpose(2, 3)) / 2 + torch.eye(size.atoms, device=device)).softmax(dim=3)
energies = atoms.mean(dim=(2, 3))


def energy_loss(model, step):
    return nn.functional.mse_loss(model(atoms[step % 4], bonds[step % 4]), energies[step % 4])


# %% bad
class Convolutions(nn.Module):
    """Messages along the bonds, then the mean of the atoms."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, size.width)
        self.layers = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(size.layers))
        self.head = nn.Linear(size.width, 1)

    def energy(self, molecule):
        atoms, bonds = molecule
        hidden = self.embed(atoms)  # <- python_loop_over_batch
        for layer in self.layers:
            hidden = nn.functional.silu(layer(bonds @ hidden))  # <- python_loop_over_batch
        return self.head(hidden.mean(dim=0))  # <- python_loop_over_batch

    def forward(self, atoms, bonds):
        return torch.cat(list(map(self.energy, zip(atoms, bonds))))  # <- python_loop_over_batch


torch.manual_seed(1)
model = Convolutions().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = energy_loss(model, step)
    loss.backward()
    optimizer.step()


# %% good
class Convolutions(nn.Module):
    """Messages along the bonds, then the mean of the atoms."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, size.width)
        self.layers = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(size.layers))
        self.head = nn.Linear(size.width, 1)

    def forward(self, atoms, bonds):
        hidden = self.embed(atoms)
        for layer in self.layers:
            hidden = nn.functional.silu(layer(bonds @ hidden))
        return self.head(hidden.mean(dim=1)).squeeze(1)


torch.manual_seed(1)
model = Convolutions().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = energy_loss(model, step)
    loss.backward()
    optimizer.step()


# %% negative
class Convolutions(nn.Module):
    """Messages along each kind of bond, then the mean of the atoms."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, size.width)
        self.kinds = nn.ModuleList(nn.Linear(size.width, size.width) for _ in range(3))
        self.head = nn.Linear(size.width, 1)

    def message(self, part):
        layer, bonds, hidden = part
        return layer(bonds @ hidden)

    def forward(self, atoms, bonds):
        hidden = self.embed(atoms)
        parts = zip(self.kinds, (bonds, 1 - bonds, bonds.square()), [hidden] * 3)
        return self.head(nn.functional.silu(sum(map(self.message, parts))).mean(dim=1)).squeeze(1)


torch.manual_seed(1)
model = Convolutions().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(size.steps):
    optimizer.zero_grad()
    loss = energy_loss(model, step)
    loss.backward()
    optimizer.step()
