# Looks suspicious: the same images are warped and jittered again in every epoch and twice per batch, and both views pass the encoder; a large part of the time is 'data preparation'.
# Right: SimCLR needs two fresh random views per image and epoch; caching the views would be a fixed data set (another method, it overfits the views).
# The warps are done for the whole batch in one grid_sample per view set, both views pass the encoder in one call.

NAME = 'Contrastive pre-training (SimCLR) of a small convnet with random affine and colour augmentation.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)


def augment(x):
    b = x.shape[0]
    ang = (torch.rand(b) - 0.5) * math.pi / 2
    scale = 0.6 + 0.6 * torch.rand(b)
    shift = 0.4 * (torch.rand(b, 2) - 0.5)
    cos, sin = torch.cos(ang) * scale, torch.sin(ang) * scale
    theta = torch.stack([torch.stack([cos, -sin, shift[:, 0]], 1), torch.stack([sin, cos, shift[:, 1]], 1)], 1)
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    x = F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    gain = 0.6 + 0.8 * torch.rand(b, 3, 1, 1)
    bias = 0.2 * (torch.rand(b, 3, 1, 1) - 0.5)
    x = x * gain + bias
    return x + 0.05 * torch.randn_like(x)


class SimCLR(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                               nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
                               nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
                               nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.g = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.normalize(self.g(self.f(x)), dim=1)


def nt_xent(z, b, tau=0.2):
    sim = z @ z.T / tau
    sim.fill_diagonal_(float("-inf"))
    target = torch.cat([torch.arange(b, 2 * b), torch.arange(b)])
    return F.cross_entropy(sim, target)


# 640 toy photographs, 48x48
coarse = torch.rand(640, 3, 6, 6)
photos = F.interpolate(coarse, size=48, mode="bicubic", align_corners=False).clamp(0, 1)

model = SimCLR()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    total = 0.0
    for idx in torch.randperm(640).split(160):
        x = photos[idx]
        views = augment(torch.cat([x, x]))
        loss = nt_xent(model(views), len(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}  loss {total / 4:.4f}")
"""
