NAME = 'Fits a pair potential to energies and forces; the force loss needs a double backward.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
torch.set_num_threads(1)

# small clusters of atoms with Morse-like reference energies and forces
ATOMS, N = 10, 900
I, J = torch.triu_indices(ATOMS, ATOMS, 1)


def distances(pos):
    return (pos[:, I] - pos[:, J]).norm(dim=-1)


def reference(pos):
    pos = pos.clone().requires_grad_(True)
    d = distances(pos)
    e = ((1 - torch.exp(-1.6 * (d - 1.3))) ** 2 - 1).sum(1)
    f, = torch.autograd.grad(-e.sum(), pos)
    return e.detach(), f


lattice = torch.cartesian_prod(torch.arange(3.), torch.arange(2.), torch.arange(2.))[:ATOMS] * 1.35
pos = lattice + 0.14 * torch.randn(N, ATOMS, 3)
energy, force = reference(pos)
shift, scale = energy.mean(), force.std()
energy, force = (energy - shift) / scale, force / scale


class PairPotential(nn.Module):
    def __init__(self, n_rbf=40, h=128):
        super().__init__()
        self.register_buffer("mu", torch.linspace(0.6, 4.0, n_rbf))
        self.gamma = 60.0
        self.net = nn.Sequential(nn.Linear(n_rbf, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, pos):
        d = distances(pos)
        rbf = torch.exp(-self.gamma * (d[..., None] - self.mu) ** 2)
        return self.net(rbf).sum((1, 2))


def energy_and_forces(net, pos, training):
    pos = pos.clone().requires_grad_(True)
    e = net(pos)
    f, = torch.autograd.grad(-e.sum(), pos, create_graph=training)
    return e, f


net = PairPotential()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
n_train = 720
for epoch in range(14):
    tot_e = tot_f = 0.0
    for idx in torch.randperm(n_train).split(40):
        e, f = energy_and_forces(net, pos[idx], training=True)
        loss_e = F.mse_loss(e, energy[idx])
        loss_f = F.mse_loss(f, force[idx])
        loss = 0.02 * loss_e + loss_f
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot_e += loss_e.item() * len(idx)
        tot_f += loss_f.item() * len(idx)
    if epoch % 3 == 2:
        e, f = energy_and_forces(net, pos[n_train:], training=False)
        err = (f - force[n_train:]).abs().mean().item()
        print(f"epoch {epoch:2d}  energy mse {tot_e / n_train:.4f}  force mse {tot_f / n_train:.5f}  val force mae {err:.4f}")
"""
