NAME = 'Trains a small diffusion model on two spirals and saves a picture of samples and loss after each epoch.'
FAULT = 'Each epoch opens a large figure that is saved but never closed, so pyplot keeps all of them with their pixel buffers.'
CURE = 'Close the figure after saving it.'
KIND = 'memory'
FAULT_LINES = [
    'fig, (ax0, ax1, ax2) = plt.subplots(1, 3, figsize=(18, 8), dpi=200)',
    'fig.savefig(os.path.join(out_dir, f"epoch_{epoch:03d}.png"))',
    'report(epoch, x, losses)',
]
FAULT_CALLS = ['plt.subplots', 'subplots', 'savefig', 'report']

FAULTY = r"""
import os
import tempfile

import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
out_dir = tempfile.mkdtemp()

# two interleaved spirals
N, T = 6000, 60
t = torch.rand(N) * 3.2 + 0.6
sign = torch.where(torch.rand(N) < 0.5, 1.0, -1.0)
data = torch.stack([sign * t * torch.cos(2 * t), sign * t * torch.sin(2 * t)], 1) / 2.2
data += 0.03 * torch.randn_like(data)

betas = torch.linspace(1e-4, 0.12, T)
alphas = 1 - betas
abar = alphas.cumprod(0)


class Denoiser(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.time = nn.Embedding(T, h)
        self.inp = nn.Linear(2, h)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))

    def forward(self, x, k):
        return self.body(self.inp(x) + self.time(k))


@torch.no_grad()
def sample(net, n):
    x = torch.randn(n, 2)
    for k in range(T - 1, -1, -1):
        eps = net(x, torch.full((n,), k))
        x = (x - betas[k] / (1 - abar[k]).sqrt() * eps) / alphas[k].sqrt()
        if k > 0:
            x = x + betas[k].sqrt() * torch.randn_like(x)
    return x


def report(epoch, x, losses):
    fig, (ax0, ax1, ax2) = plt.subplots(1, 3, figsize=(18, 8), dpi=200)
    ax0.scatter(data[:1500, 0], data[:1500, 1], s=4)
    ax0.set_title("data")
    ax1.scatter(x[:, 0], x[:, 1], s=4, c="tab:red")
    ax1.set_title(f"samples, epoch {epoch}")
    ax2.plot(losses)
    ax2.set_title("loss")
    fig.savefig(os.path.join(out_dir, f"epoch_{epoch:03d}.png"))


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
losses = []
for epoch in range(20):
    for idx in torch.randperm(N).split(500):
        x0 = data[idx]
        k = torch.randint(0, T, (len(x0),))
        noise = torch.randn_like(x0)
        a = abar[k][:, None]
        loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, k), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    x = sample(net, 1500)
    report(epoch, x, losses)
    print(f"epoch {epoch:2d}  loss {sum(losses[-12:]) / 12:.4f}  std {x.std(0).tolist()[0]:.3f}")
print(len(os.listdir(out_dir)), "pictures")
"""

CURED = r"""
import os
import tempfile

import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
out_dir = tempfile.mkdtemp()

# two interleaved spirals
N, T = 6000, 60
t = torch.rand(N) * 3.2 + 0.6
sign = torch.where(torch.rand(N) < 0.5, 1.0, -1.0)
data = torch.stack([sign * t * torch.cos(2 * t), sign * t * torch.sin(2 * t)], 1) / 2.2
data += 0.03 * torch.randn_like(data)

betas = torch.linspace(1e-4, 0.12, T)
alphas = 1 - betas
abar = alphas.cumprod(0)


class Denoiser(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.time = nn.Embedding(T, h)
        self.inp = nn.Linear(2, h)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2))

    def forward(self, x, k):
        return self.body(self.inp(x) + self.time(k))


@torch.no_grad()
def sample(net, n):
    x = torch.randn(n, 2)
    for k in range(T - 1, -1, -1):
        eps = net(x, torch.full((n,), k))
        x = (x - betas[k] / (1 - abar[k]).sqrt() * eps) / alphas[k].sqrt()
        if k > 0:
            x = x + betas[k].sqrt() * torch.randn_like(x)
    return x


def report(epoch, x, losses):
    fig, (ax0, ax1, ax2) = plt.subplots(1, 3, figsize=(18, 8), dpi=200)
    ax0.scatter(data[:1500, 0], data[:1500, 1], s=4)
    ax0.set_title("data")
    ax1.scatter(x[:, 0], x[:, 1], s=4, c="tab:red")
    ax1.set_title(f"samples, epoch {epoch}")
    ax2.plot(losses)
    ax2.set_title("loss")
    fig.savefig(os.path.join(out_dir, f"epoch_{epoch:03d}.png"))
    plt.close(fig)


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
losses = []
for epoch in range(20):
    for idx in torch.randperm(N).split(500):
        x0 = data[idx]
        k = torch.randint(0, T, (len(x0),))
        noise = torch.randn_like(x0)
        a = abar[k][:, None]
        loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, k), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    x = sample(net, 1500)
    report(epoch, x, losses)
    print(f"epoch {epoch:2d}  loss {sum(losses[-12:]) / 12:.4f}  std {x.std(0).tolist()[0]:.3f}")
print(len(os.listdir(out_dir)), "pictures")
"""
