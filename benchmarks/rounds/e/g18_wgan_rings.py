# create_graph=True is what the gradient penalty is about (its backward needs the second
# derivative), and the five critic steps per generator step are the algorithm; the samples for the
# critic are already made without a graph.

NAME = 'g18_wgan_rings'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'autograd.grad with create_graph=True in the inner loop doubles the backward work, and the critic is trained five times per generator step.'

GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)


def rings(n):
    r = torch.where(torch.rand(n) < 0.5, 1.0, 2.2)
    a = 2 * math.pi * torch.rand(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.05 * torch.randn(n, 2)


def mlp(i, o, h=192):
    return nn.Sequential(nn.Linear(i, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, o))


G, C = mlp(8, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=4e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=4e-4, betas=(0.0, 0.9))
B, LAMBDA, N_CRITIC = 384, 2.0, 5


def penalty(real, fake):
    u = torch.rand(len(real), 1)
    x = (u * real + (1 - u) * fake).requires_grad_(True)
    g, = torch.autograd.grad(C(x).sum(), x, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


for it in range(1, 81):
    for _ in range(N_CRITIC):
        real = rings(B)
        with torch.no_grad():
            fake = G(torch.randn(B, 8))
        c_loss = C(fake).mean() - C(real).mean() + LAMBDA * penalty(real, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()

    C.requires_grad_(False)
    g_loss = -C(G(torch.randn(B, 8))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    C.requires_grad_(True)

    if it % 20 == 0:
        with torch.no_grad():
            r = G(torch.randn(2000, 8)).norm(dim=1)
        print(f"{it:4d} critic {c_loss.item():+.3f} | radius mean {r.mean():.2f} sd {r.std():.2f}")
'''
