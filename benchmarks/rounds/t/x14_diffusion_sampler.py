NAME = 'Trains a small denoising diffusion model on 2-d spirals and draws samples by ancestral sampling.'
FAULT = 'The sampling loop runs with gradients enabled, so the graph of all denoising steps, with all activations, stays in memory until the end.'
CURE = 'Decorate the sampling function with torch.no_grad().'
KIND = 'memory'
FAULT_LINES = ['noise = model(x, torch.full((n,), step))', 'def draw(model, n):', 'x = (x - beta[step] / (1 - alpha_bar[step]).sqrt() * noise) / alpha[step].sqrt()', 'samples = draw(model, 4000)']
FAULT_CALLS = ['draw', 'forward', 'linear', 'silu', 'model']
FAULTY = r"""import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(14)

STEPS = 100
beta = torch.linspace(1e-4, 0.06, STEPS)
alpha = 1 - beta
alpha_bar = alpha.cumprod(0)


def spiral(n):
    angle = 3.5 * math.pi * torch.rand(n).sqrt()
    arm = torch.randint(0, 2, (n,)) * math.pi
    r = angle / (3.5 * math.pi) * 2
    points = torch.stack([r * torch.cos(angle + arm), r * torch.sin(angle + arm)], dim=1)
    return points + 0.04 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, 5, 16)))
        self.inp = nn.Linear(2 + 32, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.act = nn.SiLU()
        self.out = nn.Linear(width, 2)

    def forward(self, x, step):
        t = (step.float() / STEPS).unsqueeze(1) * self.freq
        h = self.act(self.inp(torch.cat([x, t.sin(), t.cos()], dim=1)))
        for layer in self.mid:
            h = h + self.act(layer(h))
        return self.out(h)


def train(model, updates):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, updates)
    recent = 0.0
    for i in range(1, updates + 1):
        x0 = spiral(512)
        step = torch.randint(0, STEPS, (len(x0),))
        noise = torch.randn_like(x0)
        scale = alpha_bar[step].unsqueeze(1)
        noisy = scale.sqrt() * x0 + (1 - scale).sqrt() * noise
        loss = (model(noisy, step) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        recent += loss.item()
        if i % 200 == 0:
            print(f"update {i}: loss {recent / 200:.4f}")
            recent = 0.0


def draw(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(STEPS)):
        noise = model(x, torch.full((n,), step))
        x = (x - beta[step] / (1 - alpha_bar[step]).sqrt() * noise) / alpha[step].sqrt()
        if step > 0:
            x = x + beta[step].sqrt() * torch.randn_like(x)
    return x.detach()


model = Denoiser()
train(model, 800)
model.eval()
samples = draw(model, 4000)
real = spiral(4000)
nearest = torch.cdist(samples, real).min(dim=1).values
print(f"mean distance to data {nearest.mean().item():.4f}")
print(f"share within 0.1: {(nearest < 0.1).float().mean().item():.3f}")
print(f"radius: real {real.norm(dim=1).mean().item():.3f} drawn {samples.norm(dim=1).mean().item():.3f}")
"""
CURED = r"""import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(14)

STEPS = 100
beta = torch.linspace(1e-4, 0.06, STEPS)
alpha = 1 - beta
alpha_bar = alpha.cumprod(0)


def spiral(n):
    angle = 3.5 * math.pi * torch.rand(n).sqrt()
    arm = torch.randint(0, 2, (n,)) * math.pi
    r = angle / (3.5 * math.pi) * 2
    points = torch.stack([r * torch.cos(angle + arm), r * torch.sin(angle + arm)], dim=1)
    return points + 0.04 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, 5, 16)))
        self.inp = nn.Linear(2 + 32, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.act = nn.SiLU()
        self.out = nn.Linear(width, 2)

    def forward(self, x, step):
        t = (step.float() / STEPS).unsqueeze(1) * self.freq
        h = self.act(self.inp(torch.cat([x, t.sin(), t.cos()], dim=1)))
        for layer in self.mid:
            h = h + self.act(layer(h))
        return self.out(h)


def train(model, updates):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, updates)
    recent = 0.0
    for i in range(1, updates + 1):
        x0 = spiral(512)
        step = torch.randint(0, STEPS, (len(x0),))
        noise = torch.randn_like(x0)
        scale = alpha_bar[step].unsqueeze(1)
        noisy = scale.sqrt() * x0 + (1 - scale).sqrt() * noise
        loss = (model(noisy, step) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        recent += loss.item()
        if i % 200 == 0:
            print(f"update {i}: loss {recent / 200:.4f}")
            recent = 0.0


@torch.no_grad()
def draw(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(STEPS)):
        noise = model(x, torch.full((n,), step))
        x = (x - beta[step] / (1 - alpha_bar[step]).sqrt() * noise) / alpha[step].sqrt()
        if step > 0:
            x = x + beta[step].sqrt() * torch.randn_like(x)
    return x.detach()


model = Denoiser()
train(model, 800)
model.eval()
samples = draw(model, 4000)
real = spiral(4000)
nearest = torch.cdist(samples, real).min(dim=1).values
print(f"mean distance to data {nearest.mean().item():.4f}")
print(f"share within 0.1: {(nearest < 0.1).float().mean().item():.3f}")
print(f"radius: real {real.norm(dim=1).mean().item():.3f} drawn {samples.norm(dim=1).mean().item():.3f}")
"""
