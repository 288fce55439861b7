NAME = 'PINN for the Burgers equation: graphs of derivatives are needed'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import math
import torch
import torch.nn as nn

torch.manual_seed(6)
NU = 0.01 / math.pi
net = nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(),
                    nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
opt = torch.optim.SGD(net.parameters(), lr=2e-3, momentum=0.9)


def residual(xt):
    xt = xt.requires_grad_(True)
    u = net(xt)
    g = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
    u_x, u_t = g[:, :1], g[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=True)[0][:, :1]
    return u_t + u * u_x - NU * u_xx


xb = torch.linspace(-1, 1, 100)[:, None]
ic = torch.cat([xb, torch.zeros_like(xb)], 1)
ic_val = -torch.sin(math.pi * xb)
for step in range(150):
    xt = torch.cat([torch.rand(1000, 1) * 2 - 1, torch.rand(1000, 1)], 1)
    wall = torch.cat([torch.randint(0, 2, (100, 1)) * 2.0 - 1, torch.rand(100, 1)], 1)
    pde = residual(xt).square().mean()
    data = (net(ic) - ic_val).square().mean() + net(wall).square().mean()
    loss = pde + data
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 29:
        print(f"step {step + 1}: pde {pde.item():.5f} data {data.item():.5f}")
'''
