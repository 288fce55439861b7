NAME = 'e07_advection_pinn'

FAULT = 'The derivative of the network at each collocation point is taken from the full batch-by-batch Jacobian, of which only the diagonal blocks are non-zero and used.'

CURE = 'Take the gradient of the sum of the outputs with one torch.autograd.grad call.'

KIND = 'time'

FAULT_LINES = [
    '    jac = torch.autograd.functional.jacobian(lambda p: net(p).squeeze(1), pts, create_graph=True)',
    '    return torch.diagonal(jac, dim1=0, dim2=1).T',
    '    du = derivatives(net, pts)',
]

FAULT_CALLS = [
    'torch.autograd.functional.jacobian',
    'derivatives',
    'Tensor.backward',
]

FAULTY = r'''
import math
import torch
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)

# u_t + c u_x = 0 on [0,1]^2, periodic in x; c is unknown and is found from a few sensors
TRUE_C = 0.6
exact = lambda t, x: torch.sin(2 * math.pi * (x - TRUE_C * t))


class Fourier(nn.Module):
    def forward(self, p):
        t, x = p[:, :1], p[:, 1:]
        w = 2 * math.pi
        return torch.cat([t, torch.sin(w * x), torch.cos(w * x)], dim=1)


net = nn.Sequential(Fourier(), nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
speed = nn.Parameter(torch.tensor(0.1))
opt = torch.optim.Adam([{"params": net.parameters(), "lr": 4e-3}, {"params": [speed], "lr": 2e-2}])


def derivatives(net, pts):
    """du/dt and du/dx at each point, differentiable."""
    jac = torch.autograd.functional.jacobian(lambda p: net(p).squeeze(1), pts, create_graph=True)
    return torch.diagonal(jac, dim1=0, dim2=1).T


def residual_loss(n=128):
    pts = torch.rand(n, 2)
    du = derivatives(net, pts)
    return (du[:, 0] + speed * du[:, 1]).pow(2).mean()


def initial_loss(n=128):
    x = torch.rand(n, 1)
    t = torch.zeros_like(x)
    return (net(torch.cat([t, x], 1)) - exact(t, x)).pow(2).mean()


sensor_t = torch.rand(60, 1)
sensor_x = torch.rand(60, 1)
sensor_u = exact(sensor_t, sensor_x) + 0.02 * torch.randn(60, 1)

for it in range(160):
    pde = residual_loss()
    ic = initial_loss()
    data = (net(torch.cat([sensor_t, sensor_x], 1)) - sensor_u).pow(2).mean()
    loss = 0.05 * pde + ic + data
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 39:
        print(f"{it + 1:4d}  pde {pde.item():.4f}  ic {ic.item():.4f}  data {data.item():.4f}  c = {speed.item():.4f}")

with torch.no_grad():
    g = torch.linspace(0, 1, 50)
    tt, xx = torch.meshgrid(g, g, indexing="ij")
    err = net(torch.stack([tt.flatten(), xx.flatten()], 1)) - exact(tt.flatten(), xx.flatten())[:, None]
    print(f"rmse on the grid {err.pow(2).mean().sqrt().item():.4f}")
'''

CURED = r'''
import math
import torch
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)

# u_t + c u_x = 0 on [0,1]^2, periodic in x; c is unknown and is found from a few sensors
TRUE_C = 0.6
exact = lambda t, x: torch.sin(2 * math.pi * (x - TRUE_C * t))


class Fourier(nn.Module):
    def forward(self, p):
        t, x = p[:, :1], p[:, 1:]
        w = 2 * math.pi
        return torch.cat([t, torch.sin(w * x), torch.cos(w * x)], dim=1)


net = nn.Sequential(Fourier(), nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
speed = nn.Parameter(torch.tensor(0.1))
opt = torch.optim.Adam([{"params": net.parameters(), "lr": 4e-3}, {"params": [speed], "lr": 2e-2}])


def derivatives(net, pts):
    """du/dt and du/dx at each point, differentiable."""
    pts = pts.requires_grad_()
    (du,) = torch.autograd.grad(net(pts).sum(), pts, create_graph=True)
    return du


def residual_loss(n=128):
    pts = torch.rand(n, 2)
    du = derivatives(net, pts)
    return (du[:, 0] + speed * du[:, 1]).pow(2).mean()


def initial_loss(n=128):
    x = torch.rand(n, 1)
    t = torch.zeros_like(x)
    return (net(torch.cat([t, x], 1)) - exact(t, x)).pow(2).mean()


sensor_t = torch.rand(60, 1)
sensor_x = torch.rand(60, 1)
sensor_u = exact(sensor_t, sensor_x) + 0.02 * torch.randn(60, 1)

for it in range(160):
    pde = residual_loss()
    ic = initial_loss()
    data = (net(torch.cat([sensor_t, sensor_x], 1)) - sensor_u).pow(2).mean()
    loss = 0.05 * pde + ic + data
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 39:
        print(f"{it + 1:4d}  pde {pde.item():.4f}  ic {ic.item():.4f}  data {data.item():.4f}  c = {speed.item():.4f}")

with torch.no_grad():
    g = torch.linspace(0, 1, 50)
    tt, xx = torch.meshgrid(g, g, indexing="ij")
    err = net(torch.stack([tt.flatten(), xx.flatten()], 1)) - exact(tt.flatten(), xx.flatten())[:, None]
    print(f"rmse on the grid {err.pow(2).mean().sqrt().item():.4f}")
'''
