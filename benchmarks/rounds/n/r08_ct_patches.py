NAME = 'Trains a small 3-D U-Net-like network on random patches of synthetic CT volumes with nodules.'
FAULT = 'The data set windows, gamma-corrects and normalises the entire volume on every access and cuts the small random patch out of it afterwards; the operations are pointwise.'
CURE = 'Cut the patch first and apply the pointwise intensity operations to the patch only.'
KIND = 'time'
FAULT_LINES = ['vol = augment(self.volumes[k])', 'v = v.clamp(lo, hi).sub(lo).div(hi - lo)', 'v = v.pow(math.exp(random.uniform(-0.3, 0.3)))', 'return torch.log1p(4 * v) * random.uniform(0.9, 1.1) - 0.5']
FAULT_CALLS = ['augment', 'getitem', '__getitem__', 'pow', 'log1p', 'clamp', 'div', 'sub', 'mul']
FAULTY = r"""
import math, random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader
import matplotlib.pyplot as plt

torch.set_num_threads(1)
random.seed(1); torch.manual_seed(1)

# ---- fake thorax scans in Hounsfield units -----------------------------
def fake_scan(size=128):
    z, y, x = torch.meshgrid(*[torch.linspace(-1, 1, size)] * 3, indexing='ij')
    hu = torch.full((size, size, size), -1000.)
    hu[(x / .9) ** 2 + (y / .7) ** 2 < 1] = 40.
    for c in (-.4, .4):
        hu[((x - c) / .3) ** 2 + (y / .5) ** 2 + (z / .9) ** 2 < 1] = -800.
    seg = torch.zeros_like(hu)
    for _ in range(14):
        c = torch.tensor([random.uniform(-.6, .6), random.uniform(-.4, .4), random.choice([-.4, .4]) + random.uniform(-.2, .2)])
        r = random.uniform(.06, .14)
        ball = (z - c[0]) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2 < r * r
        hu[ball] = 60.
        seg[ball] = 1
    return hu + 45 * torch.randn_like(hu), seg

scans = [fake_scan() for _ in range(4)]
print('nodule share', [round(s.mean().item(), 4) for _, s in scans])


def augment(v):
    lo, hi = -1000 + random.uniform(-40, 40), 400 + random.uniform(-60, 60)
    v = v.clamp(lo, hi).sub(lo).div(hi - lo)
    v = v.pow(math.exp(random.uniform(-0.3, 0.3)))
    return torch.log1p(4 * v) * random.uniform(0.9, 1.1) - 0.5


class Patches(Dataset):
    def __init__(self, scans, n, size=24):
        self.volumes = [a for a, _ in scans]
        self.masks = [b for _, b in scans]
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        k, s = i % len(self.volumes), self.size
        corner = [random.randrange(d - s) for d in self.volumes[k].shape]
        vol = augment(self.volumes[k])
        z, y, x = (slice(c, c + s) for c in corner)
        return vol[z, y, x].unsqueeze(0), self.masks[k][z, y, x].unsqueeze(0)


def block(i, o):
    return nn.Sequential(nn.Conv3d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.d1, self.d2 = block(1, c), block(c, 2 * c)
        self.u1 = block(3 * c, c)
        self.head = nn.Conv3d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool3d(a, 2))
        up = F.interpolate(b, scale_factor=2, mode='nearest')
        return self.head(self.u1(torch.cat([a, up], 1)))


net = MiniUNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
losses = []
for epoch in range(3):
    inter = union = 0.
    for x, m in DataLoader(Patches(scans, 96), batch_size=4, shuffle=True):
        out = net(x)
        p = torch.sigmoid(out)
        dice = 1 - (2 * (p * m).sum() + 1) / (p.sum() + m.sum() + 1)
        loss = F.binary_cross_entropy_with_logits(out, m) + dice
        opt.zero_grad(); loss.backward(); opt.step()
        losses.append(loss.item())
        inter += ((p > .5) * m).sum().item()
        union += (p > .5).sum().item() + m.sum().item()
    print(f'epoch {epoch}: loss {sum(losses[-24:]) / 24:.4f}  running dice {2 * inter / union:.4f}')

plt.plot(losses); plt.ylabel('BCE + Dice'); plt.show()
"""
CURED = r"""
import math, random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader
import matplotlib.pyplot as plt

torch.set_num_threads(1)
random.seed(1); torch.manual_seed(1)

# ---- fake thorax scans in Hounsfield units -----------------------------
def fake_scan(size=128):
    z, y, x = torch.meshgrid(*[torch.linspace(-1, 1, size)] * 3, indexing='ij')
    hu = torch.full((size, size, size), -1000.)
    hu[(x / .9) ** 2 + (y / .7) ** 2 < 1] = 40.
    for c in (-.4, .4):
        hu[((x - c) / .3) ** 2 + (y / .5) ** 2 + (z / .9) ** 2 < 1] = -800.
    seg = torch.zeros_like(hu)
    for _ in range(14):
        c = torch.tensor([random.uniform(-.6, .6), random.uniform(-.4, .4), random.choice([-.4, .4]) + random.uniform(-.2, .2)])
        r = random.uniform(.06, .14)
        ball = (z - c[0]) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2 < r * r
        hu[ball] = 60.
        seg[ball] = 1
    return hu + 45 * torch.randn_like(hu), seg

scans = [fake_scan() for _ in range(4)]
print('nodule share', [round(s.mean().item(), 4) for _, s in scans])


def augment(v):
    lo, hi = -1000 + random.uniform(-40, 40), 400 + random.uniform(-60, 60)
    v = v.clamp(lo, hi).sub(lo).div(hi - lo)
    v = v.pow(math.exp(random.uniform(-0.3, 0.3)))
    return torch.log1p(4 * v) * random.uniform(0.9, 1.1) - 0.5


class Patches(Dataset):
    def __init__(self, scans, n, size=24):
        self.volumes = [a for a, _ in scans]
        self.masks = [b for _, b in scans]
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        k, s = i % len(self.volumes), self.size
        corner = [random.randrange(d - s) for d in self.volumes[k].shape]
        z, y, x = (slice(c, c + s) for c in corner)
        vol = augment(self.volumes[k][z, y, x])
        return vol.unsqueeze(0), self.masks[k][z, y, x].unsqueeze(0)


def block(i, o):
    return nn.Sequential(nn.Conv3d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.d1, self.d2 = block(1, c), block(c, 2 * c)
        self.u1 = block(3 * c, c)
        self.head = nn.Conv3d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool3d(a, 2))
        up = F.interpolate(b, scale_factor=2, mode='nearest')
        return self.head(self.u1(torch.cat([a, up], 1)))


net = MiniUNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
losses = []
for epoch in range(3):
    inter = union = 0.
    for x, m in DataLoader(Patches(scans, 96), batch_size=4, shuffle=True):
        out = net(x)
        p = torch.sigmoid(out)
        dice = 1 - (2 * (p * m).sum() + 1) / (p.sum() + m.sum() + 1)
        loss = F.binary_cross_entropy_with_logits(out, m) + dice
        opt.zero_grad(); loss.backward(); opt.step()
        losses.append(loss.item())
        inter += ((p > .5) * m).sum().item()
        union += (p > .5).sum().item() + m.sum().item()
    print(f'epoch {epoch}: loss {sum(losses[-24:]) / 24:.4f}  running dice {2 * inter / union:.4f}')

plt.plot(losses); plt.ylabel('BCE + Dice'); plt.show()
"""
