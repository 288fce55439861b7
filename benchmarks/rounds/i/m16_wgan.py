# Looks suspicious: autograd.grad with create_graph=True in each critic step, five critic steps per generator step, new fakes made for each critic step,
# a double backward.
# Right: the penalty is a function of the gradient and must be differentiated itself (without create_graph it has no gradient: another method); n_critic=5 and fresh fakes
# are the published algorithm; fakes for the critic are made under no_grad already and the critic's parameters are frozen during the generator step.

NAME = 'Trains a small WGAN-GP on a synthetic tabular distribution.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(9)

D, Z, B, N_CRITIC = 48, 32, 384, 5
mix = torch.randn(12, D)


def real_batch(b):
    k = torch.randint(0, 12, (b,))
    return 2 * mix[k] + 0.4 * torch.randn(b, D)


G = nn.Sequential(nn.Linear(Z, 384), nn.LeakyReLU(0.2), nn.Linear(384, 384), nn.LeakyReLU(0.2), nn.Linear(384, D))
C = nn.Sequential(nn.Linear(D, 384), nn.LeakyReLU(0.2), nn.Linear(384, 384), nn.LeakyReLU(0.2), nn.Linear(384, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=1e-4, betas=(0.0, 0.9))


def gradient_penalty(C, real, fake):
    a = torch.rand(real.shape[0], 1)
    mid = (a * real + (1 - a) * fake).requires_grad_(True)
    (g,) = torch.autograd.grad(C(mid).sum(), mid, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


for it in range(75):
    for _ in range(N_CRITIC):
        real = real_batch(B)
        with torch.no_grad():
            fake = G(torch.randn(B, Z))
        wdist = C(real).mean() - C(fake).mean()
        gp = gradient_penalty(C, real, fake)
        opt_c.zero_grad()
        (-wdist + 10 * gp).backward()
        opt_c.step()

    C.requires_grad_(False)
    loss_g = -C(G(torch.randn(B, Z))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    C.requires_grad_(True)

    if it % 10 == 0:
        print(f"{it:3d}  W {wdist.item():.4f}  gp {gp.item():.4f}")
print("final W", round(wdist.item(), 4))
"""
