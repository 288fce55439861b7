NAME = "Solves Burgers' equation with a physics-informed network and compares it with a finite-difference run."
FAULT = None
CURE = None
KIND = None
LOOKS = "autograd.grad with create_graph=True inside the training loop and fresh collocation points every step look wasteful; the second derivative and the loss's gradient need the graph, and drawing the points costs next to nothing."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)

NU = 0.05


class PINN(nn.Module):
    def __init__(self, width=48, depth=4):
        super().__init__()
        sizes = [2] + [width] * depth
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def residual(model, x, t):
    u = model(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    u_xx, = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t + u * u_x - NU * u_xx


def collocation(n):
    x = torch.empty(n, 1).uniform_(-1, 1).requires_grad_()
    t = torch.rand(n, 1).requires_grad_()
    return x, t


def conditions(n):
    x0 = torch.empty(n, 1).uniform_(-1, 1)
    tb = torch.rand(n, 1)
    side = torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0)
    x = torch.cat([x0, side])
    t = torch.cat([torch.zeros_like(x0), tb])
    target = torch.cat([-torch.sin(math.pi * x0), torch.zeros_like(tb)])
    return x, t, target


model = PINN()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 1100)
for it in range(1, 1101):
    r = residual(model, *collocation(1000))
    xc, tc, uc = conditions(128)
    loss_pde = r.pow(2).mean()
    loss_bc = (model(xc, tc) - uc).pow(2).mean()
    loss = loss_pde + 5 * loss_bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 220 == 0:
        print(f"iter {it}: pde {loss_pde.item():.5f}  conditions {loss_bc.item():.5f}")

# reference: explicit finite differences
nx, nt = 201, 2000
grid = np.linspace(-1, 1, nx)
dx, dt = grid[1] - grid[0], 1.0 / nt
u = -np.sin(np.pi * grid)
for _ in range(nt):
    adv = u[1:-1] * (u[2:] - u[:-2]) / (2 * dx)
    dif = NU * (u[2:] - 2 * u[1:-1] + u[:-2]) / dx ** 2
    u[1:-1] += dt * (dif - adv)

with torch.no_grad():
    gx = torch.tensor(grid, dtype=torch.float32)[:, None]
    pred = model(gx, torch.ones_like(gx)).squeeze(1).numpy()
print(f"relative L2 error at t=1: {np.linalg.norm(pred - u) / np.linalg.norm(u):.4f}")
'''
