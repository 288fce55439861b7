NAME = "Solves the viscous Burgers equation with a physics-informed network."
FAULT = None
CURE = None
KIND = None
LOOKS = "torch.autograd.grad is called twice with create_graph=True in each step before a third backward pass: the residual holds u_xx and is itself differentiated by the loss, so both graphs are needed."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)

NU = 0.05


class PINN(nn.Module):
    def __init__(self, width=48, depth=4):
        super().__init__()
        sizes = [2] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.last = nn.Linear(width, 1)
        for layer in self.hidden:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, tx):
        h = tx
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.last(h)


def residual(net, tx):
    """u_t + u u_x - nu u_xx at the given points."""
    tx = tx.requires_grad_(True)
    u = net(tx)
    du = torch.autograd.grad(u.sum(), tx, create_graph=True)[0]
    u_t, u_x = du[:, :1], du[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), tx, create_graph=True)[0][:, 1:]
    return u_t + u * u_x - NU * u_xx


def sample_inside(n):
    t = torch.rand(n, 1)
    x = 2 * torch.rand(n, 1) - 1
    return torch.cat([t, x], dim=1)


def conditions(n):
    x0 = 2 * torch.rand(n, 1) - 1
    start = torch.cat([torch.zeros(n, 1), x0], dim=1)
    tb = torch.rand(n, 1)
    side = torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0)
    wall = torch.cat([tb, side], dim=1)
    values = torch.cat([-torch.sin(math.pi * x0), torch.zeros(n, 1)])
    return torch.cat([start, wall]), values


net = PINN()
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=260)

for it in range(1, 261):
    pts, values = conditions(200)
    loss_data = (net(pts) - values).pow(2).mean()
    loss_pde = residual(net, sample_inside(4000)).pow(2).mean()
    loss = loss_pde + 5.0 * loss_data
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if it % 65 == 0:
        print(f"iteration {it}: pde {loss_pde.item():.4f}  data {loss_data.item():.4f}")

# compare with a plain finite-difference solution
m = 201
x = torch.linspace(-1, 1, m)
dx, dt = 2 / (m - 1), 5e-4
u = -torch.sin(math.pi * x)
for _ in range(int(0.5 / dt)):
    mid = u[1:-1]
    flux = (u[2:] ** 2 - u[:-2] ** 2) / (4 * dx)
    new = mid + dt * (NU * (u[2:] - 2 * mid + u[:-2]) / dx ** 2 - flux)
    u = torch.cat([u[:1] * 0, new, u[-1:] * 0])
with torch.no_grad():
    guess = net(torch.stack([torch.full_like(x, 0.5), x], dim=1))[:, 0]
print(f"relative error at t=0.5: {((guess - u).norm() / u.norm()).item():.3f}")
'''
