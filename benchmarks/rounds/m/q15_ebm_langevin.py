NAME = 'Trains an energy-based model on a two-dimensional density with persistent Langevin chains.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(41)

BATCH, BUFFER, LANGEVIN, ITERS = 256, 4000, 20, 110
STEP, NOISE = 0.02, 0.05


def two_spirals(n):
    t = 3 * math.pi * torch.rand(n).sqrt()
    arm = torch.where(torch.rand(n) < 0.5, 1.0, -1.0)
    r = 0.22 * t * arm
    return torch.stack([r * t.cos(), r * t.sin()], 1) + 0.05 * torch.randn(n, 2)


class Energy(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1) + 0.05 * x.square().sum(-1)


def langevin(energy, x, steps):
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (grad,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - STEP * grad.clamp(-5, 5) + NOISE * torch.randn_like(x)
    return x.detach()


class ReplayChains:
    def __init__(self, size):
        self.data = 4 * torch.rand(size, 2) - 2

    def draw(self, n, restart=0.05):
        idx = torch.randint(0, len(self.data), (n,))
        x = self.data[idx]
        fresh = torch.rand(n) < restart
        x[fresh] = 4 * torch.rand(int(fresh.sum()), 2) - 2
        return idx, x

    def store(self, idx, x):
        self.data[idx] = x


@torch.no_grad()
def mmd(a, b, scale=0.5):
    def k(u, v):
        return torch.exp(-torch.cdist(u, v).square() / (2 * scale ** 2)).mean()
    return (k(a, a) + k(b, b) - 2 * k(a, b)).item()


energy = Energy()
chains = ReplayChains(BUFFER)
opt = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.5, 0.99), fused=True)
for it in range(ITERS):
    real = two_spirals(BATCH)
    idx, x0 = chains.draw(BATCH)
    fake = langevin(energy, x0, LANGEVIN)
    chains.store(idx, fake)

    e_real, e_fake = energy(real), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.05 * (e_real.square().mean() + e_fake.square().mean())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (it + 1) % 55 == 0:
        gap = (e_real.mean() - e_fake.mean()).item()
        print(f"iteration {it + 1}: loss {loss.item():.4f}  energy gap {gap:+.4f}")

start = 4 * torch.rand(800, 2) - 2
samples = langevin(energy, start, 60)
target = two_spirals(800)
print(f"mmd of start {mmd(start, target):.4f}, of samples {mmd(samples, target):.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 5.67 s (5.45, 5.88). Peak RSS 326 MB. Change tried: parameters frozen during sampling: 5.63 s (5.5, 5.76), gain +0.6%, peak RSS 326 MB.'
