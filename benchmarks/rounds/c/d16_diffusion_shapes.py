NAME = 'd16_diffusion_shapes'
FAULT = 'The diffusion sampler runs with gradients enabled, and since each step feeds the next, the graph of all denoising steps with its activations is kept.'
CURE = 'Run the sampler under torch.no_grad().'
KIND = 'memory'
FAULT_LINES = (53, 54, 60)
FAULT_CALLS = ('forward', 'net', 'sample', 'conv2d', 'group_norm', 'silu')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
T = 60
betas = torch.linspace(1e-3, 0.15, T)
alphas = 1 - betas
abar = torch.cumprod(alphas, 0)


def discs(n, s=24):
    c = torch.rand(n, 2, 1, 1) * 0.5 + 0.25
    r = torch.rand(n, 1, 1) * 0.12 + 0.1
    g = torch.linspace(0, 1, s)
    d = ((g[None, :, None] - c[:, 0]) ** 2 + (g[None, None, :] - c[:, 1]) ** 2).sqrt()
    return (torch.sigmoid((r - d) * 40) * 2 - 1).unsqueeze(1)


class Denoiser(nn.Module):
    def __init__(self, ch=40):
        super().__init__()
        self.t_emb = nn.Embedding(T, ch)
        self.inp = nn.Conv2d(1, ch, 3, padding=1)
        self.mid = nn.ModuleList([nn.Conv2d(ch, ch, 3, padding=1) for _ in range(3)])
        self.norms = nn.ModuleList([nn.GroupNorm(8, ch) for _ in range(3)])
        self.out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.t_emb(t)[:, :, None, None]
        for conv, norm in zip(self.mid, self.norms):
            h = h + conv(F.silu(norm(h)))
        return self.out(h)


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(30):
    x0 = discs(32)
    t = torch.randint(0, T, (32,))
    eps = torch.randn_like(x0)
    a = abar[t].view(-1, 1, 1, 1)
    loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * eps, t), eps)
    opt.zero_grad()
    loss.backward()
    opt.step()


def sample(n):
    x = torch.randn(n, 1, 24, 24)
    for i in reversed(range(T)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = net(x, t)
        x = (x - betas[i] / (1 - abar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    return x


images = sample(20)
print("train loss %.3f" % loss.item(), "sample std %.3f" % images.std().item())
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
T = 60
betas = torch.linspace(1e-3, 0.15, T)
alphas = 1 - betas
abar = torch.cumprod(alphas, 0)


def discs(n, s=24):
    c = torch.rand(n, 2, 1, 1) * 0.5 + 0.25
    r = torch.rand(n, 1, 1) * 0.12 + 0.1
    g = torch.linspace(0, 1, s)
    d = ((g[None, :, None] - c[:, 0]) ** 2 + (g[None, None, :] - c[:, 1]) ** 2).sqrt()
    return (torch.sigmoid((r - d) * 40) * 2 - 1).unsqueeze(1)


class Denoiser(nn.Module):
    def __init__(self, ch=40):
        super().__init__()
        self.t_emb = nn.Embedding(T, ch)
        self.inp = nn.Conv2d(1, ch, 3, padding=1)
        self.mid = nn.ModuleList([nn.Conv2d(ch, ch, 3, padding=1) for _ in range(3)])
        self.norms = nn.ModuleList([nn.GroupNorm(8, ch) for _ in range(3)])
        self.out = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.t_emb(t)[:, :, None, None]
        for conv, norm in zip(self.mid, self.norms):
            h = h + conv(F.silu(norm(h)))
        return self.out(h)


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(30):
    x0 = discs(32)
    t = torch.randint(0, T, (32,))
    eps = torch.randn_like(x0)
    a = abar[t].view(-1, 1, 1, 1)
    loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * eps, t), eps)
    opt.zero_grad()
    loss.backward()
    opt.step()


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 1, 24, 24)
    for i in reversed(range(T)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = net(x, t)
        x = (x - betas[i] / (1 - abar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    return x


images = sample(20)
print("train loss %.3f" % loss.item(), "sample std %.3f" % images.std().item())
"""
