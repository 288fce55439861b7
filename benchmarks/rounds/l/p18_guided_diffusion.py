NAME = 'Samples small images from a diffusion model with classifier-free guidance.'
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
torch.manual_seed(180)

T, n_class, width, size, n = 72, 10, 64, 16, 12
betas = torch.linspace(1e-4, 0.05, T)
alphas = 1 - betas
bars = alphas.cumprod(0)
freqs = torch.exp(-math.log(1000) * torch.arange(32) / 32)


class Res(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(w, w, 3, padding=1), nn.Conv2d(w, w, 3, padding=1)
        self.emb = nn.Linear(64, w)

    def forward(self, x, e):
        h = self.c1(torch.relu(x)) + self.emb(e)[:, :, None, None]
        return x + 0.2 * self.c2(torch.relu(h))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        self.blocks = nn.ModuleList(Res(width) for _ in range(4))
        self.cls = nn.Embedding(n_class + 1, 64)

    def forward(self, x, t, c):
        a = t[:, None] * freqs
        e = torch.cat([a.sin(), a.cos()], 1) + self.cls(c)
        h = self.inp(x)
        for b in self.blocks:
            h = b(h, e)
        return self.out(h)


net = Denoiser().eval().to(memory_format=torch.channels_last)
labels = torch.arange(n) % n_class
none = torch.full((n,), n_class)


@torch.inference_mode()
def sample(scale):
    x = torch.randn(n, 3, size, size).contiguous(memory_format=torch.channels_last)
    for t in reversed(range(T)):
        tt = torch.full((n,), float(t))
        cond, free = net(x, tt, labels), net(x, tt, none)
        eps = free + scale * (cond - free)
        x0 = ((x - (1 - bars[t]).sqrt() * eps) / bars[t].sqrt()).clamp(-2, 2)
        prev = bars[t - 1] if t else torch.ones(())
        mean = prev.sqrt() * betas[t] / (1 - bars[t]) * x0 + alphas[t].sqrt() * (1 - prev) / (1 - bars[t]) * x
        noise = torch.randn_like(x) if t else torch.zeros_like(x)
        x = mean + (betas[t] * (1 - prev) / (1 - bars[t])).sqrt() * noise
    return x


stats = []
for scale in (1.5, 3.0, 6.0):
    out = sample(scale)
    stats.append((round(out.mean().item(), 4), round(out.std().item(), 4)))
print(stats)
"""
