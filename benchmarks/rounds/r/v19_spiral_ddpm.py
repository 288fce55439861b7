NAME = 'Trains a small diffusion model on spiral-shaped data and draws new points with ancestral sampling from an averaged copy of the network.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The denoising steps run one after another because each needs the previous result; the time tensor and the in-place averaging per step cost next to nothing beside the matrix products.'

GOOD = r'''
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(71)

T, HIDDEN, BATCH, STEPS = 100, 384, 1024, 110
beta = torch.linspace(1e-4, 0.06, T)
alpha = 1.0 - beta
alpha_bar = alpha.cumprod(0)


def spiral(n):
    r = torch.rand(n).sqrt()
    angle = 3.0 * math.pi * r + math.pi * torch.randint(0, 2, (n,))
    points = torch.stack([r * angle.cos(), r * angle.sin()], dim=1)
    return 1.6 * points + 0.03 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, math.log(200.0), 16)))
        self.inp = nn.Linear(2 + 32, HIDDEN)
        self.mid = nn.ModuleList([nn.Linear(HIDDEN, HIDDEN) for _ in range(4)])
        self.out = nn.Linear(HIDDEN, 2)

    def forward(self, x, t):
        phase = (t.float() / T)[:, None] * self.freqs
        h = F.relu(self.inp(torch.cat([x, phase.sin(), phase.cos()], dim=1)))
        for layer in self.mid:
            h = h + F.relu(layer(h))
        return self.out(h)


@torch.no_grad()
def update_average(average, model, decay):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1.0 - decay)


@torch.no_grad()
def ancestral_sampling(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(T)):
        t = torch.full((n,), step)
        eps = model(x, t)
        mean = (x - beta[step] / (1.0 - alpha_bar[step]).sqrt() * eps) / alpha[step].sqrt()
        noise = torch.randn_like(x) if step > 0 else torch.zeros_like(x)
        x = mean + beta[step].sqrt() * noise
    return x


def distance_to_spiral(points, reference):
    return torch.cdist(points, reference).min(dim=1).values


model = Denoiser()
average = copy.deepcopy(model)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
running = 0.0

for step in range(1, STEPS + 1):
    x0 = spiral(BATCH)
    t = torch.randint(0, T, (BATCH,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t][:, None]
    loss = F.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_average(average, model, 0.95)
    running += loss.item()
    if step % 55 == 0:
        print(f"step {step}: mean loss {running / 55:.4f}")
        running = 0.0

average.eval()
samples = ancestral_sampling(average, 3000)
gap = distance_to_spiral(samples, spiral(2000))
print(f"sample spread {samples.std().item():.3f}")
print(f"median distance to the spiral {gap.median().item():.3f}, share closer than 0.15: {(gap < 0.15).float().mean().item():.3f}")
'''
