NAME = 'Trains a Wasserstein GAN with gradient penalty on velocity profiles (four critic steps per generator step, double backward).'
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
torch.manual_seed(15)
NOISE, WIDTH, OUT = 32, 320, 64


def turbulence(n):
    '''One-dimensional velocity profiles with a random spectrum.'''
    k = torch.arange(1, 12.0)
    amp = k ** -0.8 * torch.randn(n, 11)
    phase = 2 * math.pi * torch.rand(n, 11, 1)
    x = torch.linspace(0, 2 * math.pi, OUT)
    return (amp[..., None] * torch.sin(k[:, None] * x + phase)).sum(1)


def mlp(a, b):
    return nn.Sequential(nn.Linear(a, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, b))


class WassersteinPair:
    def __init__(self, n_critic=4, weight=10.0):
        self.G, self.D = mlp(NOISE, OUT), mlp(OUT, 1)
        self.opt_g = torch.optim.SGD(self.G.parameters(), lr=2e-3, momentum=0.5)
        self.opt_d = torch.optim.SGD(self.D.parameters(), lr=2e-3, momentum=0.5)
        self.n_critic, self.weight = n_critic, weight

    def penalty(self, real, fake):
        mix = torch.lerp(real, fake, torch.rand(len(real), 1)).requires_grad_(True)
        slope, = torch.autograd.grad(self.D(mix).sum(), mix, create_graph=True)
        return (slope.norm(dim=1) - 1).pow(2).mean()

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.G(torch.randn(len(real), NOISE))
        gap = self.D(fake).mean() - self.D(real).mean()
        loss = gap + self.weight * self.penalty(real, fake)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return gap.item()

    def generator_step(self, n):
        self.D.requires_grad_(False)
        loss = -self.D(self.G(torch.randn(n, NOISE))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        self.D.requires_grad_(True)

    @torch.no_grad()
    def spectrum_error(self, reference, n=2000):
        power = lambda x: torch.fft.rfft(x).abs().pow(2).mean(0)[1:12].log()
        return (power(self.G(torch.randn(n, NOISE))) - power(reference)).abs().mean().item()


pool = turbulence(8192)
model = WassersteinPair()
gaps = []
for step in range(100):
    for _ in range(model.n_critic):
        gaps.append(model.critic_step(pool[torch.randint(0, len(pool), (256,))]))
    model.generator_step(256)
    if step % 25 == 24:
        print(f"step {step} gap {sum(gaps[-20:]) / 20:.2f} log-spectrum error {model.spectrum_error(pool):.2f}")
"""
