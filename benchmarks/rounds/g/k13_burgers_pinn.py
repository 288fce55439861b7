NAME = "Physics-informed network for Burgers' equation"
FAULT = 'Autograd anomaly detection is left switched on for the whole training.'
CURE = 'Remove torch.autograd.set_detect_anomaly(True) (or wrap only the step being debugged).'
KIND = 'time'
FAULT_LINES = [
    'torch.autograd.set_detect_anomaly(True)',
    'loss.backward()',
]
FAULT_CALLS = ['set_detect_anomaly', 'Tensor.backward', 'aten::isnan', 'traceback.format_stack']
FAULTY = r"""import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(29)
torch.autograd.set_detect_anomaly(True)

nu = 0.02 / math.pi


class MLP(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        dims = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x, t):
        h = torch.cat([x, 2 * t - 1], dim=1)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.out(h)


def grad(u, *v):
    return torch.autograd.grad(u, v, torch.ones_like(u), create_graph=True)


def residual(net, x, t):
    u = net(x, t)
    u_x, u_t = grad(u, x, t)
    (u_xx,) = grad(u_x, x)
    return u_t + u * u_x - nu * u_xx


def collocation(n):
    x = (2 * torch.rand(n, 1) - 1).requires_grad_()
    t = torch.rand(n, 1).requires_grad_()
    return x, t


x0 = torch.linspace(-1, 1, 64).unsqueeze(1)
t0 = torch.zeros_like(x0)
u0 = -torch.sin(math.pi * x0)
tb = torch.linspace(0, 1, 32).unsqueeze(1)
left, right = -torch.ones_like(tb), torch.ones_like(tb)

net = MLP()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 900)
for it in range(900):
    x, t = collocation(160)
    pde = residual(net, x, t).pow(2).mean()
    ic = (net(x0, t0) - u0).pow(2).mean()
    bc = net(left, tb).pow(2).mean() + net(right, tb).pow(2).mean()
    loss = pde + 10 * ic + bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 150 == 149:
        print(f"it {it + 1:4d}  pde {pde.item():.2e}  ic {ic.item():.2e}  bc {bc.item():.2e}")

with torch.no_grad():
    xs = torch.linspace(-1, 1, 41).unsqueeze(1)
    for time in (0.0, 0.25, 0.5, 1.0):
        u = net(xs, torch.full_like(xs, time))
        print(f"t={time:.2f}  max|u| {u.abs().max().item():.3f}  odd symmetry error {(u + u.flip(0)).abs().max().item():.3f}")
"""
CURED = r"""import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(29)

nu = 0.02 / math.pi


class MLP(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        dims = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x, t):
        h = torch.cat([x, 2 * t - 1], dim=1)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.out(h)


def grad(u, *v):
    return torch.autograd.grad(u, v, torch.ones_like(u), create_graph=True)


def residual(net, x, t):
    u = net(x, t)
    u_x, u_t = grad(u, x, t)
    (u_xx,) = grad(u_x, x)
    return u_t + u * u_x - nu * u_xx


def collocation(n):
    x = (2 * torch.rand(n, 1) - 1).requires_grad_()
    t = torch.rand(n, 1).requires_grad_()
    return x, t


x0 = torch.linspace(-1, 1, 64).unsqueeze(1)
t0 = torch.zeros_like(x0)
u0 = -torch.sin(math.pi * x0)
tb = torch.linspace(0, 1, 32).unsqueeze(1)
left, right = -torch.ones_like(tb), torch.ones_like(tb)

net = MLP()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 900)
for it in range(900):
    x, t = collocation(160)
    pde = residual(net, x, t).pow(2).mean()
    ic = (net(x0, t0) - u0).pow(2).mean()
    bc = net(left, tb).pow(2).mean() + net(right, tb).pow(2).mean()
    loss = pde + 10 * ic + bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 150 == 149:
        print(f"it {it + 1:4d}  pde {pde.item():.2e}  ic {ic.item():.2e}  bc {bc.item():.2e}")

with torch.no_grad():
    xs = torch.linspace(-1, 1, 41).unsqueeze(1)
    for time in (0.0, 0.25, 0.5, 1.0):
        u = net(xs, torch.full_like(xs, time))
        print(f"t={time:.2f}  max|u| {u.abs().max().item():.3f}  odd symmetry error {(u + u.flip(0)).abs().max().item():.3f}")
"""
