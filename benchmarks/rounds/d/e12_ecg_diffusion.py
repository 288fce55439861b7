NAME = 'e12_ecg_diffusion'

FAULT = 'Classifier-free guidance runs with scale 1.0, where the unconditional prediction cancels out, yet the unconditional pass is made at each sampling step.'

CURE = 'Skip the unconditional pass when the guidance scale is 1.'

KIND = 'time'

FAULT_LINES = [
    '        eps_u = net(x, t, torch.full_like(label, NULL))',
    '        eps = eps_u + guidance * (eps_c - eps_u)',
]

FAULT_CALLS = [
    'Denoiser.forward',
    'F.conv1d',
    'net',
]

FAULTY = r'''
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(17)
torch.set_num_threads(1)

LEADS, LENGTH, CLASSES, STEPS = 2, 256, 5, 40
NULL = CLASSES


class Block(nn.Module):
    def __init__(self, ch, cond, dilation):
        super().__init__()
        self.norm = nn.GroupNorm(8, ch)
        self.conv = nn.Conv1d(ch, ch * 2, 3, padding=dilation, dilation=dilation)
        self.cond = nn.Linear(cond, ch)
        self.mix = nn.Conv1d(ch, ch, 1)

    def forward(self, x, c):
        h = self.norm(x) + self.cond(c)[:, :, None]
        a, b = self.conv(h).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


class Denoiser(nn.Module):
    def __init__(self, ch=64, cond=64):
        super().__init__()
        self.label = nn.Embedding(CLASSES + 1, cond)
        self.time = nn.Sequential(nn.Linear(32, cond), nn.SiLU(), nn.Linear(cond, cond))
        self.inp = nn.Conv1d(LEADS, ch, 1)
        self.blocks = nn.ModuleList([Block(ch, cond, 2 ** (i % 5)) for i in range(6)])
        self.out = nn.Conv1d(ch, LEADS, 1)

    def forward(self, x, t, y):
        freq = torch.exp(-math.log(1e4) * torch.arange(16) / 16)
        ang = t[:, None].float() * freq
        c = self.time(torch.cat([ang.sin(), ang.cos()], 1)) + self.label(y)
        h = self.inp(x)
        for blk in self.blocks:
            h = blk(h, c)
        return self.out(F.silu(h))


betas = torch.linspace(1e-4, 0.06, STEPS)
alpha_bar = torch.cumprod(1 - betas, 0)


@torch.no_grad()
def sample(net, label, guidance=1.0):
    """Deterministic DDIM with classifier-free guidance."""
    x = torch.randn(len(label), LEADS, LENGTH)
    for k in reversed(range(STEPS)):
        t = torch.full((len(label),), k)
        eps_c = net(x, t, label)
        eps_u = net(x, t, torch.full_like(label, NULL))
        eps = eps_u + guidance * (eps_c - eps_u)
        a = alpha_bar[k]
        x0 = (x - (1 - a).sqrt() * eps) / a.sqrt()
        a_prev = alpha_bar[k - 1] if k > 0 else torch.tensor(1.0)
        x = a_prev.sqrt() * x0.clamp(-3, 3) + (1 - a_prev).sqrt() * eps
    return x


net = Denoiser().eval()
stats = {}
for cls in range(CLASSES):
    beats = sample(net, torch.full((12,), cls))
    stats[cls] = (beats.mean().item(), beats.std().item(), beats.diff(dim=-1).abs().mean().item())

for cls, (m, s, rough) in stats.items():
    print(f"rhythm {cls}: mean {m:+.4f}  std {s:.4f}  roughness {rough:.4f}")
'''

CURED = r'''
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(17)
torch.set_num_threads(1)

LEADS, LENGTH, CLASSES, STEPS = 2, 256, 5, 40
NULL = CLASSES


class Block(nn.Module):
    def __init__(self, ch, cond, dilation):
        super().__init__()
        self.norm = nn.GroupNorm(8, ch)
        self.conv = nn.Conv1d(ch, ch * 2, 3, padding=dilation, dilation=dilation)
        self.cond = nn.Linear(cond, ch)
        self.mix = nn.Conv1d(ch, ch, 1)

    def forward(self, x, c):
        h = self.norm(x) + self.cond(c)[:, :, None]
        a, b = self.conv(h).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


class Denoiser(nn.Module):
    def __init__(self, ch=64, cond=64):
        super().__init__()
        self.label = nn.Embedding(CLASSES + 1, cond)
        self.time = nn.Sequential(nn.Linear(32, cond), nn.SiLU(), nn.Linear(cond, cond))
        self.inp = nn.Conv1d(LEADS, ch, 1)
        self.blocks = nn.ModuleList([Block(ch, cond, 2 ** (i % 5)) for i in range(6)])
        self.out = nn.Conv1d(ch, LEADS, 1)

    def forward(self, x, t, y):
        freq = torch.exp(-math.log(1e4) * torch.arange(16) / 16)
        ang = t[:, None].float() * freq
        c = self.time(torch.cat([ang.sin(), ang.cos()], 1)) + self.label(y)
        h = self.inp(x)
        for blk in self.blocks:
            h = blk(h, c)
        return self.out(F.silu(h))


betas = torch.linspace(1e-4, 0.06, STEPS)
alpha_bar = torch.cumprod(1 - betas, 0)


@torch.no_grad()
def sample(net, label, guidance=1.0):
    """Deterministic DDIM with classifier-free guidance."""
    x = torch.randn(len(label), LEADS, LENGTH)
    for k in reversed(range(STEPS)):
        t = torch.full((len(label),), k)
        eps = net(x, t, label)
        if guidance != 1.0:
            eps_u = net(x, t, torch.full_like(label, NULL))
            eps = eps_u + guidance * (eps - eps_u)
        a = alpha_bar[k]
        x0 = (x - (1 - a).sqrt() * eps) / a.sqrt()
        a_prev = alpha_bar[k - 1] if k > 0 else torch.tensor(1.0)
        x = a_prev.sqrt() * x0.clamp(-3, 3) + (1 - a_prev).sqrt() * eps
    return x


net = Denoiser().eval()
stats = {}
for cls in range(CLASSES):
    beats = sample(net, torch.full((12,), cls))
    stats[cls] = (beats.mean().item(), beats.std().item(), beats.diff(dim=-1).abs().mean().item())

for cls, (m, s, rough) in stats.items():
    print(f"rhythm {cls}: mean {m:+.4f}  std {s:.4f}  roughness {rough:.4f}")
'''
