NAME = 'Trains a small class-conditional diffusion model on 2-D-texture images and samples an image grid.'
FAULT = 'Classifier-free guidance runs the unconditional pass at every sampling step although the guidance weight is 1.0, so its result cancels out exactly.'
CURE = 'Skip the unconditional pass when the guidance weight is 1.'
KIND = 'time'
FAULT_LINES = ['eps_uncond = net(x, tt, null)', 'eps = eps_uncond + GUIDANCE * (eps_cond - eps_uncond)', 'GUIDANCE = 1.0']
FAULT_CALLS = ['net', 'forward', 'conv2d', 'Conv2d', 'group_norm', 'silu']
FAULTY = r"""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(2024)

SIZE, CLASSES, T = 16, 3, 100
GUIDANCE = 1.0

def textures(n):
    # stripes / checker / blobs with random phase
    y = torch.randint(0, CLASSES, (n,))
    g = torch.linspace(0, 2 * math.pi, SIZE)
    ph = torch.rand(n, 2, 1, 1) * 2 * math.pi
    a, b = torch.sin(2 * g[None, :, None] + ph[:, 0]), torch.sin(2 * g[None, None, :] + ph[:, 1])
    img = torch.where((y == 0)[:, None, None], a.expand(n, SIZE, SIZE),
          torch.where((y == 1)[:, None, None], torch.sign(a * b), torch.relu(a + b) - 0.5))
    return img.unsqueeze(1).clamp(-1, 1), y

beta = torch.linspace(1e-4, 0.07, T)
abar = torch.cumprod(1 - beta, 0)

class Block(nn.Module):
    def __init__(self, ci, co, ce):
        super().__init__()
        self.c1 = nn.Conv2d(ci, co, 3, padding=1)
        self.c2 = nn.Conv2d(co, co, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(4, co), nn.GroupNorm(4, co)
        self.e = nn.Linear(ce, co)
        self.skip = nn.Conv2d(ci, co, 1)
    def forward(self, x, e):
        h = F.silu(self.n1(self.c1(x))) + self.e(e)[:, :, None, None]
        return F.silu(self.n2(self.c2(h))) + self.skip(x)

class Denoiser(nn.Module):
    def __init__(self, c=20, ce=48):
        super().__init__()
        self.cls = nn.Embedding(CLASSES + 1, ce)
        self.time = nn.Sequential(nn.Linear(16, ce), nn.SiLU(), nn.Linear(ce, ce))
        self.register_buffer('freq', torch.exp(torch.linspace(0, 5, 8)))
        self.inp, self.b1 = nn.Conv2d(1, c, 3, padding=1), Block(c, c, ce)
        self.b2, self.b3 = Block(c, 2 * c, ce), Block(3 * c, c, ce)
        self.out = nn.Conv2d(c, 1, 3, padding=1)
    def forward(self, x, t, y):
        w = t[:, None] / T * self.freq
        e = self.time(torch.cat([w.sin(), w.cos()], 1)) + self.cls(y)
        a = self.b1(self.inp(x), e)
        b = self.b2(F.avg_pool2d(a, 2), e)
        return self.out(self.b3(torch.cat([a, F.interpolate(b, scale_factor=2)], 1), e))

net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for it in range(90):
    x0, y = textures(32)
    t = torch.randint(0, T, (32,))
    noise = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None, None, None] * x0 + (1 - abar[t]).sqrt()[:, None, None, None] * noise
    drop = torch.rand(32) < 0.15
    loss = F.mse_loss(net(xt, t, torch.where(drop, CLASSES, y)), noise)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 30 == 29:
        print('step', it + 1, 'noise mse', round(loss.item(), 4))

@torch.no_grad()
def sample(labels):
    x = torch.randn(len(labels), 1, SIZE, SIZE)
    null = torch.full_like(labels, CLASSES)
    for t in reversed(range(T)):
        tt = torch.full_like(labels, t)
        eps_cond = net(x, tt, labels)
        eps_uncond = net(x, tt, null)
        eps = eps_uncond + GUIDANCE * (eps_cond - eps_uncond)
        x = (x - beta[t] / (1 - abar[t]).sqrt() * eps) / (1 - beta[t]).sqrt()
        if t > 0:
            x = x + beta[t].sqrt() * torch.randn_like(x)
    return x.clamp(-1, 1)

labels = torch.arange(CLASSES).repeat_interleave(32)
imgs = sample(labels)
print('mean / std per class', [(round(imgs[labels == k].mean().item(), 3), round(imgs[labels == k].std().item(), 3)) for k in range(CLASSES)])
fig, ax = plt.subplots(3, 6, figsize=(6, 3))
for k in range(3):
    for j in range(6):
        ax[k, j].imshow(imgs[32 * k + j, 0], cmap='gray'); ax[k, j].axis('off')
plt.show()
"""
CURED = r"""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(2024)

SIZE, CLASSES, T = 16, 3, 100
GUIDANCE = 1.0

def textures(n):
    # stripes / checker / blobs with random phase
    y = torch.randint(0, CLASSES, (n,))
    g = torch.linspace(0, 2 * math.pi, SIZE)
    ph = torch.rand(n, 2, 1, 1) * 2 * math.pi
    a, b = torch.sin(2 * g[None, :, None] + ph[:, 0]), torch.sin(2 * g[None, None, :] + ph[:, 1])
    img = torch.where((y == 0)[:, None, None], a.expand(n, SIZE, SIZE),
          torch.where((y == 1)[:, None, None], torch.sign(a * b), torch.relu(a + b) - 0.5))
    return img.unsqueeze(1).clamp(-1, 1), y

beta = torch.linspace(1e-4, 0.07, T)
abar = torch.cumprod(1 - beta, 0)

class Block(nn.Module):
    def __init__(self, ci, co, ce):
        super().__init__()
        self.c1 = nn.Conv2d(ci, co, 3, padding=1)
        self.c2 = nn.Conv2d(co, co, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(4, co), nn.GroupNorm(4, co)
        self.e = nn.Linear(ce, co)
        self.skip = nn.Conv2d(ci, co, 1)
    def forward(self, x, e):
        h = F.silu(self.n1(self.c1(x))) + self.e(e)[:, :, None, None]
        return F.silu(self.n2(self.c2(h))) + self.skip(x)

class Denoiser(nn.Module):
    def __init__(self, c=20, ce=48):
        super().__init__()
        self.cls = nn.Embedding(CLASSES + 1, ce)
        self.time = nn.Sequential(nn.Linear(16, ce), nn.SiLU(), nn.Linear(ce, ce))
        self.register_buffer('freq', torch.exp(torch.linspace(0, 5, 8)))
        self.inp, self.b1 = nn.Conv2d(1, c, 3, padding=1), Block(c, c, ce)
        self.b2, self.b3 = Block(c, 2 * c, ce), Block(3 * c, c, ce)
        self.out = nn.Conv2d(c, 1, 3, padding=1)
    def forward(self, x, t, y):
        w = t[:, None] / T * self.freq
        e = self.time(torch.cat([w.sin(), w.cos()], 1)) + self.cls(y)
        a = self.b1(self.inp(x), e)
        b = self.b2(F.avg_pool2d(a, 2), e)
        return self.out(self.b3(torch.cat([a, F.interpolate(b, scale_factor=2)], 1), e))

net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for it in range(90):
    x0, y = textures(32)
    t = torch.randint(0, T, (32,))
    noise = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None, None, None] * x0 + (1 - abar[t]).sqrt()[:, None, None, None] * noise
    drop = torch.rand(32) < 0.15
    loss = F.mse_loss(net(xt, t, torch.where(drop, CLASSES, y)), noise)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 30 == 29:
        print('step', it + 1, 'noise mse', round(loss.item(), 4))

@torch.no_grad()
def sample(labels):
    x = torch.randn(len(labels), 1, SIZE, SIZE)
    null = torch.full_like(labels, CLASSES)
    for t in reversed(range(T)):
        tt = torch.full_like(labels, t)
        eps = net(x, tt, labels)
        if GUIDANCE != 1.0:
            eps_uncond = net(x, tt, null)
            eps = eps_uncond + GUIDANCE * (eps - eps_uncond)
        x = (x - beta[t] / (1 - abar[t]).sqrt() * eps) / (1 - beta[t]).sqrt()
        if t > 0:
            x = x + beta[t].sqrt() * torch.randn_like(x)
    return x.clamp(-1, 1)

labels = torch.arange(CLASSES).repeat_interleave(32)
imgs = sample(labels)
print('mean / std per class', [(round(imgs[labels == k].mean().item(), 3), round(imgs[labels == k].std().item(), 3)) for k in range(CLASSES)])
fig, ax = plt.subplots(3, 6, figsize=(6, 3))
for k in range(3):
    for j in range(6):
        ax[k, j].imshow(imgs[32 * k + j, 0], cmap='gray'); ax[k, j].axis('off')
plt.show()
"""
