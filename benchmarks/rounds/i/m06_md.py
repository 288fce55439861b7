NAME = 'Fits a neural pair potential by force matching, then runs molecular dynamics of a cluster with it.'
FAULT = 'The molecular dynamics takes its forces with the training helper (create_graph=True), so positions and velocities drag the autograd graph of all earlier steps along through the whole trajectory.'
CURE = 'Take the forces of the dynamics without create_graph and detach the positions at each step.'
KIND = 'memory'
FAULT_LINES = [
    '(g,) = torch.autograd.grad(e, pos, create_graph=True)',
    'pos = pos + dt * vel',
    'vel = vel + 0.5 * dt * f',
    'e, f = energy_and_forces(model, pos)',
]
FAULT_CALLS = [
    'run_md',
    'energy_and_forces',
    'grad',
    'autograd.grad',
    'linear',
    'forward',
    'exp',
    'silu',
]
FAULTY = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)


class PairNet(nn.Module):
    def __init__(self, n_rbf=16, hid=32):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.6, 4.0, n_rbf))
        self.net = nn.Sequential(nn.Linear(n_rbf, hid), nn.SiLU(), nn.Linear(hid, hid), nn.SiLU(), nn.Linear(hid, 1))

    def forward(self, pos):
        n = pos.shape[0]
        i, j = torch.triu_indices(n, n, offset=1)
        d = (pos[i] - pos[j]).pow(2).sum(-1).add(1e-9).sqrt()
        rbf = torch.exp(-4.0 * (d[:, None] - self.centers) ** 2)
        return (self.net(rbf).squeeze(-1) * torch.exp(-0.5 * d)).sum()


class Morse(nn.Module):
    # reference calculator
    def forward(self, pos):
        d = torch.pdist(pos)
        return (0.3 * (1 - torch.exp(-1.5 * (d - 1.2))) ** 2 - 0.3).sum()


def energy_and_forces(model, pos):
    pos.requires_grad_(True)
    e = model(pos)
    (g,) = torch.autograd.grad(e, pos, create_graph=True)
    return e, -g


def cluster(n):
    grid = torch.stack(torch.meshgrid(*[torch.arange(5.0)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return 1.15 * (grid[:n] - grid[:n].mean(0)) + 0.06 * torch.randn(n, 3)


def fit(model, reference, n_steps):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(n_steps):
        conf = cluster(90)
        _, f_ref = energy_and_forces(reference, conf.clone())
        _, f = energy_and_forces(model, conf)
        loss = (f - f_ref.detach()).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"force matching {step:4d}  rmse {loss.item() ** 0.5:.4f}")


def run_md(model, pos, n_steps, dt=0.01):
    vel = 0.05 * torch.randn_like(pos)
    e, f = energy_and_forces(model, pos)
    log = []
    for step in range(n_steps):
        vel = vel + 0.5 * dt * f
        pos = pos + dt * vel
        e, f = energy_and_forces(model, pos)
        vel = vel + 0.5 * dt * f
        kin = 0.5 * vel.pow(2).sum()
        log.append((e.item(), kin.item()))
        if step % 20 == 0:
            print(f"step {step:4d}  E_pot {log[-1][0]:9.4f}  E_kin {log[-1][1]:8.4f}  total {sum(log[-1]):9.4f}")
    return pos, vel, log


potential = PairNet()
fit(potential, Morse(), 560)
pos, vel, log = run_md(potential, cluster(90), n_steps=100)
drift = sum(log[-1]) - sum(log[0])
print(f"energy drift {drift:.5f}, mean squared radius {pos.detach().pow(2).sum(-1).mean().item():.5f}")
"""
CURED = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)


class PairNet(nn.Module):
    def __init__(self, n_rbf=16, hid=32):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.6, 4.0, n_rbf))
        self.net = nn.Sequential(nn.Linear(n_rbf, hid), nn.SiLU(), nn.Linear(hid, hid), nn.SiLU(), nn.Linear(hid, 1))

    def forward(self, pos):
        n = pos.shape[0]
        i, j = torch.triu_indices(n, n, offset=1)
        d = (pos[i] - pos[j]).pow(2).sum(-1).add(1e-9).sqrt()
        rbf = torch.exp(-4.0 * (d[:, None] - self.centers) ** 2)
        return (self.net(rbf).squeeze(-1) * torch.exp(-0.5 * d)).sum()


class Morse(nn.Module):
    # reference calculator
    def forward(self, pos):
        d = torch.pdist(pos)
        return (0.3 * (1 - torch.exp(-1.5 * (d - 1.2))) ** 2 - 0.3).sum()


def energy_and_forces(model, pos, create_graph=True):
    pos.requires_grad_(True)
    e = model(pos)
    (g,) = torch.autograd.grad(e, pos, create_graph=create_graph)
    return e, -g


def cluster(n):
    grid = torch.stack(torch.meshgrid(*[torch.arange(5.0)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return 1.15 * (grid[:n] - grid[:n].mean(0)) + 0.06 * torch.randn(n, 3)


def fit(model, reference, n_steps):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(n_steps):
        conf = cluster(90)
        _, f_ref = energy_and_forces(reference, conf.clone())
        _, f = energy_and_forces(model, conf)
        loss = (f - f_ref.detach()).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"force matching {step:4d}  rmse {loss.item() ** 0.5:.4f}")


def run_md(model, pos, n_steps, dt=0.01):
    vel = 0.05 * torch.randn_like(pos)
    e, f = energy_and_forces(model, pos, create_graph=False)
    log = []
    for step in range(n_steps):
        vel = vel + 0.5 * dt * f
        pos = (pos + dt * vel).detach()
        e, f = energy_and_forces(model, pos, create_graph=False)
        vel = vel + 0.5 * dt * f
        kin = 0.5 * vel.pow(2).sum()
        log.append((e.item(), kin.item()))
        if step % 20 == 0:
            print(f"step {step:4d}  E_pot {log[-1][0]:9.4f}  E_kin {log[-1][1]:8.4f}  total {sum(log[-1]):9.4f}")
    return pos, vel, log


potential = PairNet()
fit(potential, Morse(), 560)
pos, vel, log = run_md(potential, cluster(90), n_steps=100)
drift = sum(log[-1]) - sum(log[0])
print(f"energy drift {drift:.5f}, mean squared radius {pos.detach().pow(2).sum(-1).mean().item():.5f}")
"""
