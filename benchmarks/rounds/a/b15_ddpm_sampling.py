NAME = 'ancestral sampling of a small denoising diffusion model'
FAULT = 'the NumPy schedule is float64, and the dtype error was silenced by making the whole model and the samples double'
CURE = 'cast the schedule to float32 and keep the model and the samples in float32'
KIND = 'time'
FAULT_LINES = ['model = Denoiser().double()', 'x = torch.randn(N, D, dtype=torch.float64)', 'eps = model(x, t_emb)', 'return self.net(torch.cat([x, t.expand(len(x), -1)], 1))']
FAULT_CALLS = ['Module.double', 'nn.Linear', 'Denoiser.forward', 'aten::addmm', 'torch.nn.functional.linear']
FAULTY = '''
import math
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(12)
STEPS, N, D, EMB = 320, 512, 32, 64

betas = torch.from_numpy(np.linspace(1e-4, 0.02, STEPS))
alphas = 1.0 - betas
abar = torch.cumprod(alphas, 0)


class Denoiser(nn.Module):
    def __init__(self, h=512):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(D + EMB, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(),
                                 nn.Linear(h, h), nn.ReLU(), nn.Linear(h, D))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.expand(len(x), -1)], 1))


def time_embedding(t):
    freq = torch.exp(-math.log(1e4) * torch.arange(EMB // 2, dtype=betas.dtype) / (EMB // 2))
    return torch.cat([torch.sin(t * freq), torch.cos(t * freq)])[None]


model = Denoiser().double()
model.eval()

x = torch.randn(N, D, dtype=torch.float64)
with torch.no_grad():
    for t in reversed(range(STEPS)):
        t_emb = time_embedding(t)
        eps = model(x, t_emb)
        x = (x - betas[t] / (1 - abar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)

print(f"samples: mean {x.mean().item():.4f}  std {x.std().item():.4f}")
'''
CURED = '''
import math
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(12)
STEPS, N, D, EMB = 320, 512, 32, 64

betas = torch.from_numpy(np.linspace(1e-4, 0.02, STEPS)).float()
alphas = 1.0 - betas
abar = torch.cumprod(alphas, 0)


class Denoiser(nn.Module):
    def __init__(self, h=512):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(D + EMB, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(),
                                 nn.Linear(h, h), nn.ReLU(), nn.Linear(h, D))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.expand(len(x), -1)], 1))


def time_embedding(t):
    freq = torch.exp(-math.log(1e4) * torch.arange(EMB // 2, dtype=betas.dtype) / (EMB // 2))
    return torch.cat([torch.sin(t * freq), torch.cos(t * freq)])[None]


model = Denoiser()
model.eval()

x = torch.randn(N, D)
with torch.no_grad():
    for t in reversed(range(STEPS)):
        t_emb = time_embedding(t)
        eps = model(x, t_emb)
        x = (x - betas[t] / (1 - abar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)

print(f"samples: mean {x.mean().item():.4f}  std {x.std().item():.4f}")
'''
