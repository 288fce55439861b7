NAME = 'Fits a physics-informed network to the one-dimensional shallow water equations.'
FAULT = 'Every partial derivative evaluates the network and its whole gradient anew (seven forward passes and six gradient calls per residual, some of them the same).'
CURE = 'Evaluate the network once, take one gradient of depth and one of velocity, and pick the columns.'
KIND = 'time'
FAULT_LINES = [
    'out = net(xt)[:, field]',
    'g, = torch.autograd.grad(out.sum(), xt, create_graph=True)',
    'mass = partial(net, xt, H, T) + u * partial(net, xt, H, X) + h * partial(net, xt, U, X)',
    'momentum = partial(net, xt, U, T) + u * partial(net, xt, U, X) + 9.81 * partial(net, xt, H, X)',
    'mass, momentum = residuals(net, points)',
]
FAULT_CALLS = ['partial', 'residuals', 'grad', 'net', 'forward', 'linear', 'tanh', 'addmm', 'backward', 'run_backward']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
X, T = 0, 1
H, U = 0, 1


def make_net(width=80, depth=4):
    layers, last = [], 2
    for _ in range(depth):
        layers += [nn.Linear(last, width), nn.Tanh()]
        last = width
    return nn.Sequential(*layers, nn.Linear(last, 2))


def partial(net, xt, field, wrt):
    out = net(xt)[:, field]
    g, = torch.autograd.grad(out.sum(), xt, create_graph=True)
    return g[:, wrt]


def residuals(net, xt):
    h, u = net(xt).unbind(1)
    mass = partial(net, xt, H, T) + u * partial(net, xt, H, X) + h * partial(net, xt, U, X)
    momentum = partial(net, xt, U, T) + u * partial(net, xt, U, X) + 9.81 * partial(net, xt, H, X)
    return mass, momentum


def start_state(x):
    return torch.stack([1.0 + 0.2 * torch.exp(-20 * x ** 2), torch.zeros_like(x)], 1)


net = make_net()
points = torch.rand(1200, 2) * torch.tensor([4.0, 0.5]) - torch.tensor([2.0, 0.0])
points.requires_grad_(True)
x0 = torch.linspace(-2, 2, 160)
xt0 = torch.stack([x0, torch.zeros_like(x0)], 1)
s0 = start_state(x0)
tb = 0.5 * torch.rand(60)
walls = torch.cat([torch.stack([torch.full_like(tb, s), tb], 1) for s in (-2.0, 2.0)])

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(160):
    mass, momentum = residuals(net, points)
    l_pde = mass.pow(2).mean() + momentum.pow(2).mean()
    l_start = (net(xt0) - s0).pow(2).mean()
    l_wall = net(walls)[:, U].pow(2).mean()
    loss = l_pde + 20 * l_start + 5 * l_wall
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 39:
        print(f'{it + 1:4d}  pde {l_pde.item():.4f}  start {l_start.item():.4f}  wall {l_wall.item():.4f}')

with torch.no_grad():
    depth = net(torch.stack([x0, torch.full_like(x0, 0.25)], 1))[:, H]
print(f'mean depth at t = 0.25: {depth.mean():.3f}')
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
X, T = 0, 1
H, U = 0, 1


def make_net(width=80, depth=4):
    layers, last = [], 2
    for _ in range(depth):
        layers += [nn.Linear(last, width), nn.Tanh()]
        last = width
    return nn.Sequential(*layers, nn.Linear(last, 2))


def residuals(net, xt):
    h, u = net(xt).unbind(1)
    dh, = torch.autograd.grad(h.sum(), xt, create_graph=True)
    du, = torch.autograd.grad(u.sum(), xt, create_graph=True)
    mass = dh[:, T] + u * dh[:, X] + h * du[:, X]
    momentum = du[:, T] + u * du[:, X] + 9.81 * dh[:, X]
    return mass, momentum


def start_state(x):
    return torch.stack([1.0 + 0.2 * torch.exp(-20 * x ** 2), torch.zeros_like(x)], 1)


net = make_net()
points = torch.rand(1200, 2) * torch.tensor([4.0, 0.5]) - torch.tensor([2.0, 0.0])
points.requires_grad_(True)
x0 = torch.linspace(-2, 2, 160)
xt0 = torch.stack([x0, torch.zeros_like(x0)], 1)
s0 = start_state(x0)
tb = 0.5 * torch.rand(60)
walls = torch.cat([torch.stack([torch.full_like(tb, s), tb], 1) for s in (-2.0, 2.0)])

opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(160):
    mass, momentum = residuals(net, points)
    l_pde = mass.pow(2).mean() + momentum.pow(2).mean()
    l_start = (net(xt0) - s0).pow(2).mean()
    l_wall = net(walls)[:, U].pow(2).mean()
    loss = l_pde + 20 * l_start + 5 * l_wall
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 39:
        print(f'{it + 1:4d}  pde {l_pde.item():.4f}  start {l_start.item():.4f}  wall {l_wall.item():.4f}')

with torch.no_grad():
    depth = net(torch.stack([x0, torch.full_like(x0, 0.25)], 1))[:, H]
print(f'mean depth at t = 0.25: {depth.mean():.3f}')
"""
