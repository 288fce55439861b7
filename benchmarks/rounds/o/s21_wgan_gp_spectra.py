NAME = 'WGAN-GP for synthetic emission spectra'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'create_graph=True, a second forward of the critic on interpolates and five critic steps per generator step look costly, but the gradient penalty must be differentiated through; fakes are made without a graph and the critic is frozen in the generator step'
GOOD = r"""
import numpy as np
import torch
from torch import nn, autograd

torch.set_num_threads(1)
torch.manual_seed(14)
rng = np.random.default_rng(14)

BINS, NOISE, BATCH = 96, 24, 320
N_CRITIC, ITERS, LAMBDA = 5, 16, 10.0


def spectra(n):
    wl = np.linspace(0, 1, BINS)
    temp = rng.uniform(0.2, 0.8, (n, 1))
    cont = np.exp(-((wl - temp) / 0.5) ** 2)
    out = 0.4 * cont
    for centre in (0.22, 0.47, 0.81):
        height = rng.gamma(2.0, 0.3, (n, 1)) * (1 + temp)
        out = out + height * np.exp(-((wl - centre) / 0.015) ** 2)
    return (out + 0.02 * rng.normal(size=out.shape)).astype(np.float32)


data = torch.from_numpy(spectra(6000))
data = (data - data.mean(0)) / data.std()

gen_net = nn.Sequential(nn.Linear(NOISE, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, BINS))
critic = nn.Sequential(nn.Linear(BINS, 448), nn.Softplus(beta=5), nn.Linear(448, 448), nn.Softplus(beta=5),
                       nn.Linear(448, 448), nn.Softplus(beta=5), nn.Linear(448, 1))
opt_g = torch.optim.Adam(gen_net.parameters(), lr=2e-4, betas=(0.0, 0.9), fused=True)
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.0, 0.9), fused=True)


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mid = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mid)
    grad, = autograd.grad(score.sum(), mid, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def critic_step():
    real = data[torch.randint(0, len(data), (BATCH,))]
    with torch.no_grad():
        fake = gen_net(torch.randn(BATCH, NOISE))
    s = critic(torch.cat([real, fake]))
    w_dist = s[:BATCH].mean() - s[BATCH:].mean()
    gp = gradient_penalty(real, fake)
    opt_c.zero_grad()
    (LAMBDA * gp - w_dist).backward()
    opt_c.step()
    return w_dist.detach(), gp.detach()


def generator_step():
    critic.requires_grad_(False)
    loss = -critic(gen_net(torch.randn(BATCH, NOISE))).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    critic.requires_grad_(True)
    return loss.detach()


for it in range(1, ITERS + 1):
    for _ in range(N_CRITIC):
        w_dist, gp = critic_step()
    g = generator_step()
    if it % 4 == 0:
        print(f"iter {it:3d}  W {w_dist.item():.4f}  gp {gp.item():.4f}  G {g.item():.4f}")

with torch.no_grad():
    fake = gen_net(torch.randn(2000, NOISE))
gap_mean = (fake.mean(0) - data.mean(0)).abs().mean().item()
gap_std = (fake.std(0) - data.std(0)).abs().mean().item()
print(f"gap of mean spectrum {gap_mean:.4f}, of bin-wise std {gap_std:.4f}")
"""
