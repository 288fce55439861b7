NAME = "Trains a small U-Net that segments synthetic lesions in MR-like slices and validates after each epoch."
FAULT = "Validation runs with autograd on and sums loss tensors, so the graphs and activations of all validation batches stay alive until the sum is dropped."
CURE = "Decorate the validation function with torch.no_grad()."
KIND = "memory"
FAULT_LINES = ["total = total + dice_bce(logits, m) * len(x)"]
FAULT_CALLS = ["validate", "dice_bce", "conv2d", "convolution", "mkldnn_convolution", "relu", "cat", "add", "forward"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

SIZE = 96


def make_slice():
    yy, xx = np.mgrid[:SIZE, :SIZE] / SIZE - 0.5
    head = (xx / 0.42) ** 2 + (yy / 0.46) ** 2 < 1
    img = 0.5 * head + 0.1 * np.sin(12 * xx + rng.uniform(0, 6)) * head
    mask = np.zeros((SIZE, SIZE), dtype=bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(-0.28, 0.28, 2)
        r = rng.uniform(0.04, 0.1)
        mask |= (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
    img = img + 0.25 * mask + 0.08 * rng.normal(size=img.shape)
    return img.astype(np.float32), mask.astype(np.float32)


def make_set(n):
    pairs = [make_slice() for _ in range(n)]
    x = torch.from_numpy(np.stack([p[0] for p in pairs]))[:, None]
    m = torch.from_numpy(np.stack([p[1] for p in pairs]))[:, None]
    return x, m


class Block(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.d1, self.d2, self.mid = Block(1, c), Block(c, 2 * c), Block(2 * c, 4 * c)
        self.u2, self.u1 = Block(6 * c, 2 * c), Block(3 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


def dice_bce(logits, m):
    p = logits.sigmoid()
    inter = (p * m).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + m.sum((1, 2, 3)) + 1)
    return dice.mean() + F.binary_cross_entropy_with_logits(logits, m)


def train_epoch(net, opt, x, m, bs=8):
    net.train()
    for idx in torch.randperm(len(x)).split(bs):
        loss = dice_bce(net(x[idx]), m[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()


def validate(net, xs, ms, bs=8):
    net.eval()
    total, inter, union = 0.0, 0.0, 0.0
    for x, m in zip(xs.split(bs), ms.split(bs)):
        logits = net(x)
        total = total + dice_bce(logits, m) * len(x)
        pred = logits > 0
        inter += (pred & (m > 0)).sum().item()
        union += (pred | (m > 0)).sum().item()
    return float(total / len(xs)), inter / max(union, 1)


train_x, train_m = make_set(96)
val_x, val_m = make_set(88)
net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    train_epoch(net, opt, train_x, train_m)
    vl, iou = validate(net, val_x, val_m)
    print(f"epoch {epoch}: val loss {vl:.3f}, IoU {iou:.3f}")
'''
CURED = FAULTY.replace("def validate(net, xs, ms, bs=8):", "@torch.no_grad()\ndef validate(net, xs, ms, bs=8):")
