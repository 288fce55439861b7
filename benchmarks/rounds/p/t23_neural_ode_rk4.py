NAME = 'Learns the vector field of coupled oscillators by integrating a network with fourth-order Runge-Kutta.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'Four network calls per step and a Python loop over the steps look redundant, but each call is at another point that depends on the one before.'
GOOD = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(71)

dim, dt, steps = 16, 0.1, 12
A = torch.randn(dim, dim)
A = 0.5 * (A - A.t()) - 0.1 * torch.eye(dim)


def true_field(s):
    return torch.tanh(s) @ A.t()


def rk4(f, s, dt):
    k1 = f(s)
    k2 = f(s + 0.5 * dt * k1)
    k3 = f(s + 0.5 * dt * k2)
    k4 = f(s + dt * k3)
    return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, s, steps):
    path = [s]
    for _ in range(steps):
        s = rk4(f, s, dt)
        path.append(s)
    return torch.stack(path)


with torch.no_grad():
    start = torch.randn(2000, dim)
    paths = integrate(true_field, start, steps)

field = nn.Sequential(nn.Linear(dim, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, dim))
opt = torch.optim.Adam(field.parameters(), lr=2e-3)
for it in range(14):
    pick = torch.randint(0, 2000, (500,))
    pred = integrate(field, start[pick], steps)
    loss = (pred - paths[:, pick]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(field.parameters(), 1.0)
    opt.step()
    if it % 2 == 1:
        print(f'iteration {it + 1}: loss {loss.item():.4f}')
"""
