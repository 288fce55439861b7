NAME = 'Trains a WGAN-GP on toy calorimeter showers.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'Gradient penalty with create_graph=True on each of five critic steps per generator step, i.e. double backward through the critic; without it the penalty has no gradient and the training is another one.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
from torch import autograd

torch.set_num_threads(1)
torch.manual_seed(1)
np.random.seed(1)

# calorimeter showers (10 x 10 cells flattened), toy version
CELLS = 100
Z = 24
BATCH = 256
GEN_STEPS = 90
N_CRITIC = 5
LAMBDA = 10.0

yy, xx = np.mgrid[0:10, 0:10]


def showers(n):
    cx = np.random.normal(4.5, 1.0, (n, 1, 1))
    cy = np.random.normal(4.5, 1.0, (n, 1, 1))
    width = np.random.gamma(8.0, 0.2, (n, 1, 1))
    e = np.random.exponential(1.0, (n, 1, 1)) + 0.5
    img = e * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * width ** 2))
    return torch.tensor(np.log1p(img).reshape(n, CELLS), dtype=torch.float32)


real_data = showers(6000)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


G = nn.Sequential(mlp([Z, 128, 256, CELLS], nn.ReLU), nn.Softplus())
D = mlp([CELLS, 384, 384, 256, 1], lambda: nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = D(mixed)
    grad, = autograd.grad(score.sum(), mixed, create_graph=True, retain_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


def batches():
    while True:
        order = torch.randperm(len(real_data))
        for idx in order.split(BATCH):
            if len(idx) == BATCH:
                yield real_data[idx]


stream = batches()
w_curve = []
for step in range(GEN_STEPS):
    for _ in range(N_CRITIC):
        real = next(stream)
        with torch.no_grad():
            fake = G(torch.randn(BATCH, Z))
        score = D(torch.cat([real, fake]))
        gap = score[:BATCH].mean() - score[BATCH:].mean()
        loss_d = -gap + LAMBDA * gradient_penalty(real, fake)
        opt_d.zero_grad(set_to_none=True)
        loss_d.backward()
        opt_d.step()

    for p in D.parameters():
        p.requires_grad_(False)
    loss_g = -D(G(torch.randn(BATCH, Z))).mean()
    opt_g.zero_grad(set_to_none=True)
    loss_g.backward()
    opt_g.step()
    for p in D.parameters():
        p.requires_grad_(True)
    w_curve.append(gap.item())

with torch.no_grad():
    sample = G(torch.randn(2000, Z))
ref = real_data[:2000]
print(f'critic gap: {np.mean(w_curve[:10]):.3f} -> {np.mean(w_curve[-10:]):.3f}')
print(f'mean energy real {ref.sum(1).mean():.2f}, generated {sample.sum(1).mean():.2f}; '
      f'cell-wise L1 {(ref.mean(0) - sample.mean(0)).abs().mean():.4f}')
"""
