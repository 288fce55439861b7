NAME = 'Trains a small segmentation network on synthetic microscope images with gradient accumulation.'
FAULT = 'The losses of the micro-batches are summed and backward runs once on the sum, so that the activations of all micro-batches are held together.'
CURE = 'Call (loss / accumulate).backward() for every micro-batch.'
KIND = 'memory'
FAULT_LINES = [
    'total = total + loss / accumulate',
    'total.backward()',
    'pred = net(xb)',
    'a = self.down1(x)',
    'b = self.down2(F.max_pool2d(a, 2))',
    'c = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)',
    'return self.out(self.up(torch.cat([a, c], 1)))',
]
FAULT_CALLS = [
    'SmallUNet.forward',
    'conv2d',
    'relu',
    'batch_norm',
    'torch.cat',
    'torch.Tensor.backward',
]

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)


def double_conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.down1, self.down2 = double_conv(1, w), double_conv(w, 2 * w)
        self.up = double_conv(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.up(torch.cat([a, c], 1)))


def sample(n, size=128, cells=12):
    g = torch.arange(size, dtype=torch.float32)
    cy, cx = torch.rand(2, n, cells, 1, 1) * size
    r = 5 + 8 * torch.rand(n, cells, 1, 1)
    inside = ((g[:, None] - cy) ** 2 + (g[None, :] - cx) ** 2 < r ** 2).any(1)
    img = 0.6 * inside.float() + 0.3 * torch.randn(n, size, size)
    return img[:, None], inside[:, None].float()


net = SmallUNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
accumulate, micro = 8, 3

curve = []
for step in range(9):
    x, y = sample(accumulate * micro)
    opt.zero_grad()
    total = 0.0
    for xb, yb in zip(x.split(micro), y.split(micro)):
        pred = net(xb)
        loss = F.binary_cross_entropy_with_logits(pred, yb)
        total = total + loss / accumulate
    total.backward()
    opt.step()
    curve.append(float(total))

with torch.no_grad():
    x, y = sample(4)
    p = (net(x) > 0).float()
    dice = (2 * (p * y).sum() / (p.sum() + y.sum()).clamp(min=1)).item()
print("loss", [round(v, 4) for v in curve], f"dice {dice:.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)


def double_conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.down1, self.down2 = double_conv(1, w), double_conv(w, 2 * w)
        self.up = double_conv(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.up(torch.cat([a, c], 1)))


def sample(n, size=128, cells=12):
    g = torch.arange(size, dtype=torch.float32)
    cy, cx = torch.rand(2, n, cells, 1, 1) * size
    r = 5 + 8 * torch.rand(n, cells, 1, 1)
    inside = ((g[:, None] - cy) ** 2 + (g[None, :] - cx) ** 2 < r ** 2).any(1)
    img = 0.6 * inside.float() + 0.3 * torch.randn(n, size, size)
    return img[:, None], inside[:, None].float()


net = SmallUNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
accumulate, micro = 8, 3

curve = []
for step in range(9):
    x, y = sample(accumulate * micro)
    opt.zero_grad()
    total = 0.0
    for xb, yb in zip(x.split(micro), y.split(micro)):
        pred = net(xb)
        loss = F.binary_cross_entropy_with_logits(pred, yb)
        (loss / accumulate).backward()
        total = total + loss.item() / accumulate
    opt.step()
    curve.append(float(total))

with torch.no_grad():
    x, y = sample(4)
    p = (net(x) > 0).float()
    dice = (2 * (p * y).sum() / (p.sum() + y.sum()).clamp(min=1)).item()
print("loss", [round(v, 4) for v in curve], f"dice {dice:.4f}")
"""
