NAME = 'Solves a nonlinear first-order boundary-layer ODE with a physics-informed network.'
FAULT = 'The derivative of u at the collocation points is taken as the diagonal of the full Jacobian of the batch (one backward pass per point) although u(x_i) depends on x_i alone.'
CURE = 'Take torch.autograd.grad of u.sum() with respect to x: one backward pass gives the same derivatives.'
KIND = 'time'
FAULT_LINES = [
    'J = jacobian(lambda z: net(z).squeeze(-1), x, create_graph=True)',
    'return torch.diagonal(J.squeeze(-1))',
    'ux = du_dx(net, x)',
]
FAULT_CALLS = [
    'jacobian',
    'du_dx',
    'grad',
    'autograd.grad',
    'backward',
    '_autograd_grad',
    'diagonal',
]
FAULTY = r"""
import torch
import torch.nn as nn
from torch.autograd.functional import jacobian

torch.set_num_threads(1)
torch.manual_seed(2)

net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))


def du_dx(net, x):
    J = jacobian(lambda z: net(z).squeeze(-1), x, create_graph=True)
    return torch.diagonal(J.squeeze(-1))


def residual(net, x):
    # u' = 6 (x - u) (1 + 0.3 u^2),  u(0) = 1
    u = net(x).squeeze(-1)
    ux = du_dx(net, x)
    return ux - 6.0 * (x.squeeze(-1) - u) * (1 + 0.3 * u ** 2)


opt = torch.optim.Adam(net.parameters(), lr=5e-3)
x0 = torch.zeros(1, 1)
for it in range(240):
    x = torch.rand(160, 1)
    loss_pde = residual(net, x).pow(2).mean()
    loss_bc = (net(x0) - 1.0).pow(2).sum()
    loss = loss_pde + 20 * loss_bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        print(f"{it:4d}  pde {loss_pde.item():.5f}  bc {loss_bc.item():.5f}")

xs = torch.linspace(0, 1, 5).unsqueeze(-1)
with torch.no_grad():
    print("u:", [round(v, 4) for v in net(xs).squeeze(-1).tolist()])
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2)

net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))


def du_dx(net, x):
    x = x.requires_grad_(True)
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    return g.squeeze(-1)


def residual(net, x):
    # u' = 6 (x - u) (1 + 0.3 u^2),  u(0) = 1
    u = net(x).squeeze(-1)
    ux = du_dx(net, x)
    return ux - 6.0 * (x.squeeze(-1) - u) * (1 + 0.3 * u ** 2)


opt = torch.optim.Adam(net.parameters(), lr=5e-3)
x0 = torch.zeros(1, 1)
for it in range(240):
    x = torch.rand(160, 1)
    loss_pde = residual(net, x).pow(2).mean()
    loss_bc = (net(x0) - 1.0).pow(2).sum()
    loss = loss_pde + 20 * loss_bc
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        print(f"{it:4d}  pde {loss_pde.item():.5f}  bc {loss_bc.item():.5f}")

xs = torch.linspace(0, 1, 5).unsqueeze(-1)
with torch.no_grad():
    print("u:", [round(v, 4) for v in net(xs).squeeze(-1).tolist()])
"""
