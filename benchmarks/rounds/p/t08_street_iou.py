NAME = 'Trains a tiny segmentation network on synthetic street scenes and reports mean IoU on a validation set.'
FAULT = 'The confusion matrix is filled by one pass over all pixels for each of the 19 x 19 pairs of classes.'
CURE = 'Count the pairs with one torch.bincount of target * C + pred.'
KIND = 'time'
FAULT_LINES = [
    'for t in range(self.c):',
    'for p in range(self.c):',
    'self.mat[t, p] += ((target == t) & (pred == p)).sum()',
]
FAULT_CALLS = ['update', 'eq', '__eq__', 'bitwise_and', '__and__', 'sum']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)
C = 19


def scenes(n, side=96):
    lab = torch.zeros(n, side, side, dtype=torch.long)
    for i in range(n):
        for _ in range(14):
            c = int(torch.randint(1, C, ()))
            y0, x0 = torch.randint(0, side - 16, (2,)).tolist()
            h, w = torch.randint(8, 48, (2,)).tolist()
            lab[i, y0:y0 + h, x0:x0 + w] = c
    palette = torch.linspace(0, 1, C * 3).view(C, 3)[:, torch.tensor([2, 0, 1])]
    palette = (palette * 7.3) % 1.0
    img = palette[lab].permute(0, 3, 1, 2) + 0.08 * torch.randn(n, 3, side, side)
    return img, lab


class ConfusionMeter:
    def __init__(self, c):
        self.c = c
        self.mat = torch.zeros(c, c, dtype=torch.long)

    def update(self, pred, target):
        for t in range(self.c):
            for p in range(self.c):
                self.mat[t, p] += ((target == t) & (pred == p)).sum()

    def miou(self):
        inter = self.mat.diag().float()
        union = self.mat.sum(0) + self.mat.sum(1) - self.mat.diag()
        return (inter / union.clamp_min(1)).mean().item()


class TinySeg(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 1, 1), nn.ReLU())
        self.up = nn.Conv2d(24, C, 1)

    def forward(self, x):
        return F.interpolate(self.up(self.down(x)), scale_factor=2, mode='bilinear', align_corners=False)


xtr, ytr = scenes(96)
xva, yva = scenes(160)
net = TinySeg()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(4):
    net.train()
    for idx in torch.randperm(len(xtr)).split(16):
        loss = F.cross_entropy(net(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    meter = ConfusionMeter(C)
    with torch.no_grad():
        for xb, yb in zip(xva.split(8), yva.split(8)):
            meter.update(net(xb).argmax(1), yb)
    print(f'epoch {epoch}: loss {loss.item():.3f}  mIoU {meter.miou():.4f}  pixels {meter.mat.sum().item()}')
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)
C = 19


def scenes(n, side=96):
    lab = torch.zeros(n, side, side, dtype=torch.long)
    for i in range(n):
        for _ in range(14):
            c = int(torch.randint(1, C, ()))
            y0, x0 = torch.randint(0, side - 16, (2,)).tolist()
            h, w = torch.randint(8, 48, (2,)).tolist()
            lab[i, y0:y0 + h, x0:x0 + w] = c
    palette = torch.linspace(0, 1, C * 3).view(C, 3)[:, torch.tensor([2, 0, 1])]
    palette = (palette * 7.3) % 1.0
    img = palette[lab].permute(0, 3, 1, 2) + 0.08 * torch.randn(n, 3, side, side)
    return img, lab


class ConfusionMeter:
    def __init__(self, c):
        self.c = c
        self.mat = torch.zeros(c, c, dtype=torch.long)

    def update(self, pred, target):
        pairs = torch.bincount((target * self.c + pred).flatten(), minlength=self.c ** 2)
        self.mat += pairs.view(self.c, self.c)

    def miou(self):
        inter = self.mat.diag().float()
        union = self.mat.sum(0) + self.mat.sum(1) - self.mat.diag()
        return (inter / union.clamp_min(1)).mean().item()


class TinySeg(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 1, 1), nn.ReLU())
        self.up = nn.Conv2d(24, C, 1)

    def forward(self, x):
        return F.interpolate(self.up(self.down(x)), scale_factor=2, mode='bilinear', align_corners=False)


xtr, ytr = scenes(96)
xva, yva = scenes(160)
net = TinySeg()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(4):
    net.train()
    for idx in torch.randperm(len(xtr)).split(16):
        loss = F.cross_entropy(net(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    meter = ConfusionMeter(C)
    with torch.no_grad():
        for xb, yb in zip(xva.split(8), yva.split(8)):
            meter.update(net(xb).argmax(1), yb)
    print(f'epoch {epoch}: loss {loss.item():.3f}  mIoU {meter.miou():.4f}  pixels {meter.mat.sum().item()}')
"""
