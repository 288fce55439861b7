NAME = "Trains a physics-informed surrogate of one-dimensional heat conduction with a conductivity parameter."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "create_graph=True in two nested autograd.grad calls inside the training loop: it looks like a graph kept for nothing, but the loss is made of these derivatives and has to be differentiated again; the points drawn anew at each step cost next to nothing."
GOOD = r'''
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)


class Surrogate(nn.Module):
    """u(x, t; kappa) on the unit rod with u = 0 at both ends and u(x, 0) = sin(pi x)."""

    def __init__(self, width=64, depth=3):
        super().__init__()
        layers = [nn.Linear(3, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        layers.append(nn.Linear(width, 1))
        self.body = nn.Sequential(*layers)

    def forward(self, x, t, kappa):
        raw = self.body(torch.cat([x, t, kappa], dim=1))
        return torch.sin(math.pi * x) + t * x * (1 - x) * raw


def exact(x, t, kappa):
    return torch.exp(-kappa * math.pi ** 2 * t) * torch.sin(math.pi * x)


def sample(n):
    x = torch.rand(n, 1, requires_grad=True)
    t = torch.rand(n, 1, requires_grad=True)
    kappa = 0.05 + 0.25 * torch.rand(n, 1)
    return x, t, kappa


def residual(model, x, t, kappa):
    u = model(x, t, kappa)
    ones = torch.ones_like(u)
    u_x, u_t = torch.autograd.grad(u, (x, t), ones, create_graph=True)
    u_xx, = torch.autograd.grad(u_x, x, ones, create_graph=True)
    return u_t - kappa * u_xx


@torch.no_grad()
def test_error(model, n=4000):
    x, t, kappa = (v.detach() for v in sample(n))
    return (model(x, t, kappa) - exact(x, t, kappa)).abs().max().item()


model = Surrogate()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.997)
STEPS = 450
for step in range(1, STEPS + 1):
    x, t, kappa = sample(1500)
    loss = residual(model, x, t, kappa).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 90 == 0:
        print(f"step {step:4d}  residual {loss.item():.2e}  max error {test_error(model):.4f}")

with torch.no_grad():
    kappa = torch.tensor([[0.05], [0.1], [0.2], [0.3]])
    mid = torch.full_like(kappa, 0.5)
    late = torch.ones_like(kappa)
    for k, a, b in zip(kappa, model(mid, late, kappa), exact(mid, late, kappa)):
        print(f"kappa {k.item():.2f}: centre temperature {a.item():.4f} (exact {b.item():.4f})")
'''
