NAME = "Solves the viscous Burgers equation (fluid dynamics) with a physics-informed network."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "autograd.grad is called twice per step with create_graph=True, also for the last derivative, and loss.item() is read in each step: the residual's loss is differentiated by the weights through both derivatives, so both graphs are needed, and item() costs nothing on the CPU."
GOOD = r'''
import math
import torch
from torch import nn
from torch.autograd import grad

torch.set_num_threads(1)
torch.manual_seed(2)

NU = 0.05 / math.pi


class BurgersNet(nn.Module):
    """u(x, t) on [-1, 1] x [0, 1]; boundary and initial condition are built in."""

    def __init__(self, width=64, depth=4):
        super().__init__()
        dims = [2] + [width] * depth
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            lin = nn.Linear(a, b)
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)
            layers += [lin, nn.Tanh()]
        self.body = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, xt):
        x, t = xt[:, :1], xt[:, 1:]
        raw = self.body(xt)
        return -torch.sin(math.pi * x) * (1 - t) + t * (1 - x * x) * raw


def residual(net, xt):
    xt.requires_grad_(True)
    u = net(xt)
    du = grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = du[:, :1], du[:, 1:]
    u_xx = grad(u_x.sum(), xt, create_graph=True)[0][:, :1]
    return u_t + u * u_x - NU * u_xx


def sample_points(n):
    xt = torch.rand(n, 2)
    xt[:, 0] = 2 * xt[:, 0] - 1
    near = n // 4                        # denser where the shock forms
    xt[:near, 0] = 0.15 * torch.randn(near).clamp_(-3, 3)
    return xt


def reference(x, t, n_quad=2001):
    """Cole-Hopf solution by quadrature, float64 because the integrand spans many decades."""
    eta = torch.linspace(-1.0, 1.0, n_quad, dtype=torch.float64) * 6 * math.sqrt(2 * NU * t)
    y = x.double()[:, None] - eta
    expo = -torch.cos(math.pi * y) / (2 * math.pi * NU) - eta ** 2 / (4 * NU * t)
    w = torch.softmax(expo, dim=1)
    return -(w * torch.sin(math.pi * y)).sum(1)


net = BurgersNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=500)
trace = []
for step in range(1, 501):
    res = residual(net, sample_points(1000))
    loss = res.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    trace.append(loss.item())
    if step % 100 == 0:
        print(f"step {step:4d}  residual {sum(trace[-50:]) / 50:.5f}")

x = torch.linspace(-1, 1, 201)
with torch.no_grad():
    for t in (0.25, 0.5, 0.75):
        u = net(torch.stack([x, torch.full_like(x, t)], 1)).squeeze(1)
        ref = reference(x, t)
        err = (u - ref).norm() / ref.norm()
        print(f"t={t:.2f}  relative L2 error {err.item():.4f}")
'''
