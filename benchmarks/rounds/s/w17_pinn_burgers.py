NAME = 'Solves the viscous Burgers equation with a physics-informed network.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'create_graph=True is needed: the residual contains derivatives of the network, which are themselves differentiated in backward.'

GOOD = r'''import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)

NU = 0.05
N_INSIDE, N_EDGE, STEPS = 1024, 128, 600


class Field(nn.Module):
    def __init__(self, width=64, depth=3):
        super().__init__()
        layers = [nn.Linear(2, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        layers.append(nn.Linear(width, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, xt):
        return self.net(xt).squeeze(1)


def residual(field, xt):
    xt.requires_grad_(True)
    u = field(xt)
    du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = du[:, 0], du[:, 1]
    u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=True)[0][:, 0]
    return u_t + u * u_x - NU * u_xx


def sample_inside(n):
    return torch.stack([torch.rand(n) * 2 - 1, torch.rand(n)], dim=1)


def sample_start(n):
    x = torch.rand(n) * 2 - 1
    return torch.stack([x, torch.zeros(n)], dim=1), -torch.sin(math.pi * x)


def sample_walls(n):
    side = torch.randint(0, 2, (n,)) * 2.0 - 1.0
    return torch.stack([side, torch.rand(n)], dim=1)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=200, gamma=0.5)

for step in range(1, STEPS + 1):
    inside = residual(field, sample_inside(N_INSIDE)).pow(2).mean()
    xt0, u0 = sample_start(N_EDGE)
    start = (field(xt0) - u0).pow(2).mean()
    walls = field(sample_walls(N_EDGE)).pow(2).mean()
    loss = inside + 5 * start + 5 * walls
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 100 == 0:
        print(f"step {step:4d}  pde {inside.item():.4f}  start {start.item():.4f}  walls {walls.item():.4f}")

with torch.no_grad():
    x = torch.linspace(-1, 1, 9)
    for time in (0.0, 0.5, 1.0):
        u = field(torch.stack([x, torch.full_like(x, time)], dim=1))
        print(f"t={time:.1f}", " ".join(f"{v:+.2f}" for v in u.tolist()))

check = residual(field, sample_inside(4096)).abs().mean().item()
print(f"mean absolute residual {check:.4f}")
'''
