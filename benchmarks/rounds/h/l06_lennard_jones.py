NAME = 'Molecular dynamics of a Lennard-Jones fluid with velocity Verlet.'
FAULT = 'Every step evaluates the forces twice: at its start it recomputes the forces at the positions where the previous step ended.'
CURE = 'Carry the forces over from the end of the previous step (self.force).'
KIND = 'time'
FAULT_LINES = [
    'force, _, _ = lj(self.x)',
    'half = self.v + 0.5 * self.dt * force',
]
FAULT_CALLS = ['lj', 'advance', 'VelocityVerlet.advance', 'aten::round', 'aten::sub', 'aten::sub_', 'aten::div', 'aten::mul', 'aten::sum', 'aten::where', 'aten::pow']
FAULTY = r"""
# Lennard-Jones fluid, NVE, reduced units
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(42)

n_side = 9
N = n_side ** 3
rho = 0.70
T0 = 1.1
dt = 0.003
n_steps = 270
sample_every = 20
L = (N / rho) ** (1 / 3)
r_cut2 = (L / 2) ** 2

# simple cubic lattice + small random kick
g = (torch.arange(n_side) + 0.5) * (L / n_side)
x = torch.stack(torch.meshgrid(g, g, g, indexing='ij'), dim=-1).reshape(-1, 3)
x = x + 0.02 * torch.randn_like(x)
v = math.sqrt(T0) * torch.randn(N, 3)
v = v - v.mean(0)
not_self = ~torch.eye(N, dtype=torch.bool)


def lj(pos):
    '''forces, potential energy and virial with minimum image'''
    d = pos.unsqueeze(1) - pos.unsqueeze(0)
    d -= L * torch.round(d / L)
    r2 = (d * d).sum(-1)
    near = (r2 < r_cut2) & not_self
    inv2 = torch.where(near, 1.0 / r2, torch.zeros_like(r2))
    inv6 = inv2 ** 3
    energy = 2.0 * (inv6 * inv6 - inv6).sum()
    w = 24.0 * (2.0 * inv6 * inv6 - inv6)
    force = ((w * inv2).unsqueeze(-1) * d).sum(1)
    return force, energy, 0.5 * w.sum()


def pair_histogram(pos, bins=60):
    d = pos.unsqueeze(1) - pos.unsqueeze(0)
    d -= L * torch.round(d / L)
    r = d.norm(dim=-1)[not_self]
    return torch.histc(r, bins=bins, min=0.0, max=L / 2)


class VelocityVerlet:
    def __init__(self, pos, vel, step):
        self.x, self.v, self.dt = pos, vel, step
        self.force, self.pot, self.virial = lj(pos)

    def advance(self):
        force, _, _ = lj(self.x)
        half = self.v + 0.5 * self.dt * force
        self.x = torch.remainder(self.x + self.dt * half, L)
        self.force, self.pot, self.virial = lj(self.x)
        self.v = half + 0.5 * self.dt * self.force

    @property
    def kinetic(self):
        return 0.5 * (self.v ** 2).sum()


md = VelocityVerlet(x, v, dt)
hist = torch.zeros(60)
energies, temps, pressures = [], [], []

for step in range(n_steps):
    md.advance()
    if step < 80 and step % 10 == 0:
        # crude equilibration
        T = 2 * md.kinetic / (3 * N)
        md.v = md.v * torch.sqrt(T0 / T)
    elif step >= 80:
        kin = md.kinetic
        energies.append(((kin + md.pot) / N).item())
        temps.append((2 * kin / (3 * N)).item())
        pressures.append(((2 * kin + md.virial) / (3 * L ** 3)).item())
        if step % sample_every == 0:
            hist += pair_histogram(md.x)

e = torch.tensor(energies)
n_hist = sum(1 for s in range(80, n_steps) if s % sample_every == 0)
edges = torch.linspace(0, L / 2, 61)
shell = 4 / 3 * math.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
gr = hist / (n_hist * N * rho * shell)

print(f'E/N = {e.mean():.4f}, drift {abs(e[-1] - e[0]):.1e}, T = {sum(temps) / len(temps):.3f}, '
      f'P = {sum(pressures) / len(pressures):.3f}')
print(f'first peak of g(r): {gr.max():.2f} at r = {edges[gr.argmax()]:.2f}')
"""
CURED = r"""
# Lennard-Jones fluid, NVE, reduced units
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(42)

n_side = 9
N = n_side ** 3
rho = 0.70
T0 = 1.1
dt = 0.003
n_steps = 270
sample_every = 20
L = (N / rho) ** (1 / 3)
r_cut2 = (L / 2) ** 2

# simple cubic lattice + small random kick
g = (torch.arange(n_side) + 0.5) * (L / n_side)
x = torch.stack(torch.meshgrid(g, g, g, indexing='ij'), dim=-1).reshape(-1, 3)
x = x + 0.02 * torch.randn_like(x)
v = math.sqrt(T0) * torch.randn(N, 3)
v = v - v.mean(0)
not_self = ~torch.eye(N, dtype=torch.bool)


def lj(pos):
    '''forces, potential energy and virial with minimum image'''
    d = pos.unsqueeze(1) - pos.unsqueeze(0)
    d -= L * torch.round(d / L)
    r2 = (d * d).sum(-1)
    near = (r2 < r_cut2) & not_self
    inv2 = torch.where(near, 1.0 / r2, torch.zeros_like(r2))
    inv6 = inv2 ** 3
    energy = 2.0 * (inv6 * inv6 - inv6).sum()
    w = 24.0 * (2.0 * inv6 * inv6 - inv6)
    force = ((w * inv2).unsqueeze(-1) * d).sum(1)
    return force, energy, 0.5 * w.sum()


def pair_histogram(pos, bins=60):
    d = pos.unsqueeze(1) - pos.unsqueeze(0)
    d -= L * torch.round(d / L)
    r = d.norm(dim=-1)[not_self]
    return torch.histc(r, bins=bins, min=0.0, max=L / 2)


class VelocityVerlet:
    def __init__(self, pos, vel, step):
        self.x, self.v, self.dt = pos, vel, step
        self.force, self.pot, self.virial = lj(pos)

    def advance(self):
        half = self.v + 0.5 * self.dt * self.force
        self.x = torch.remainder(self.x + self.dt * half, L)
        self.force, self.pot, self.virial = lj(self.x)
        self.v = half + 0.5 * self.dt * self.force

    @property
    def kinetic(self):
        return 0.5 * (self.v ** 2).sum()


md = VelocityVerlet(x, v, dt)
hist = torch.zeros(60)
energies, temps, pressures = [], [], []

for step in range(n_steps):
    md.advance()
    if step < 80 and step % 10 == 0:
        # crude equilibration
        T = 2 * md.kinetic / (3 * N)
        md.v = md.v * torch.sqrt(T0 / T)
    elif step >= 80:
        kin = md.kinetic
        energies.append(((kin + md.pot) / N).item())
        temps.append((2 * kin / (3 * N)).item())
        pressures.append(((2 * kin + md.virial) / (3 * L ** 3)).item())
        if step % sample_every == 0:
            hist += pair_histogram(md.x)

e = torch.tensor(energies)
n_hist = sum(1 for s in range(80, n_steps) if s % sample_every == 0)
edges = torch.linspace(0, L / 2, 61)
shell = 4 / 3 * math.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
gr = hist / (n_hist * N * rho * shell)

print(f'E/N = {e.mean():.4f}, drift {abs(e[-1] - e[0]):.1e}, T = {sum(temps) / len(temps):.3f}, '
      f'P = {sum(pressures) / len(pressures):.3f}')
print(f'first peak of g(r): {gr.max():.2f} at r = {edges[gr.argmax()]:.2f}')
"""
