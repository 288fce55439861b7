NAME = 'Semantic segmentation of synthetic leaf images with a light encoder and a bilinear decoder head'
FAULT = 'The 96-channel features are upsampled 8x to full resolution first and only then sent through the 1x1 classifier, so the interpolation and the 1x1 convolution run on 64 times as many pixels with many channels'
CURE = 'Apply the 1x1 classifier at low resolution and upsample the few class logits; a 1x1 convolution with bias commutes with bilinear interpolation'
KIND = 'time'
FAULT_LINES = ['f = F.interpolate(f, size=x.shape[-2:], mode="bilinear", align_corners=False)', 'return self.classifier(f)']
FAULT_CALLS = ['F.interpolate', 'upsample_bilinear2d', 'self.classifier', 'conv2d']
FAULTY = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

H = W = 128
N_CLASSES = 5
N_IMG = 48


def draw_leaf_scene():
    yy, xx = np.mgrid[0:H, 0:W]
    img = rng.normal(0.35, 0.05, (3, H, W)).astype(np.float32)
    lab = np.zeros((H, W), dtype=np.int64)
    for _ in range(rng.integers(3, 7)):
        cls = int(rng.integers(1, N_CLASSES))
        cy, cx = rng.integers(15, H - 15, 2)
        a, b = rng.uniform(8, 26, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        lab[inside] = cls
        colour = np.array([0.2 * cls, 0.9 - 0.15 * cls, 0.1 + 0.1 * cls], dtype=np.float32)
        img[:, inside] = colour[:, None] + rng.normal(0, 0.06, (3, inside.sum())).astype(np.float32)
    return img, lab


pairs = [draw_leaf_scene() for _ in range(N_IMG)]
images = torch.from_numpy(np.stack([p[0] for p in pairs]))
masks = torch.from_numpy(np.stack([p[1] for p in pairs]))


def block(i, o, stride):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.GroupNorm(8, o), nn.ReLU(inplace=True))


class LeafNet(nn.Module):
    def __init__(self, width=96, n_classes=N_CLASSES):
        super().__init__()
        self.stem = nn.Sequential(block(3, 24, 2), block(24, 48, 2), block(48, width, 2))
        self.context = nn.Sequential(block(width, width, 1), block(width, width, 1))
        self.classifier = nn.Conv2d(width, n_classes, kernel_size=1)

    def forward(self, x):
        f = self.stem(x)
        f = f + self.context(f)
        f = F.interpolate(f, size=x.shape[-2:], mode="bilinear", align_corners=False)
        return self.classifier(f)


def mean_iou(pred, true):
    ious = []
    for c in range(N_CLASSES):
        inter = ((pred == c) & (true == c)).sum().item()
        union = ((pred == c) | (true == c)).sum().item()
        if union:
            ious.append(inter / union)
    return sum(ious) / len(ious)


train = DataLoader(TensorDataset(images[:40], masks[:40]), batch_size=8, shuffle=True,
                   generator=torch.Generator().manual_seed(1))
net = LeafNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(6):
    net.train()
    total = 0.0
    for xb, yb in train:
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        pred = net(images[40:]).argmax(1)
    print(f"epoch {epoch}  loss {total / len(train):.3f}  val mIoU {mean_iou(pred, masks[40:]):.3f}")
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

H = W = 128
N_CLASSES = 5
N_IMG = 48


def draw_leaf_scene():
    yy, xx = np.mgrid[0:H, 0:W]
    img = rng.normal(0.35, 0.05, (3, H, W)).astype(np.float32)
    lab = np.zeros((H, W), dtype=np.int64)
    for _ in range(rng.integers(3, 7)):
        cls = int(rng.integers(1, N_CLASSES))
        cy, cx = rng.integers(15, H - 15, 2)
        a, b = rng.uniform(8, 26, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        lab[inside] = cls
        colour = np.array([0.2 * cls, 0.9 - 0.15 * cls, 0.1 + 0.1 * cls], dtype=np.float32)
        img[:, inside] = colour[:, None] + rng.normal(0, 0.06, (3, inside.sum())).astype(np.float32)
    return img, lab


pairs = [draw_leaf_scene() for _ in range(N_IMG)]
images = torch.from_numpy(np.stack([p[0] for p in pairs]))
masks = torch.from_numpy(np.stack([p[1] for p in pairs]))


def block(i, o, stride):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.GroupNorm(8, o), nn.ReLU(inplace=True))


class LeafNet(nn.Module):
    def __init__(self, width=96, n_classes=N_CLASSES):
        super().__init__()
        self.stem = nn.Sequential(block(3, 24, 2), block(24, 48, 2), block(48, width, 2))
        self.context = nn.Sequential(block(width, width, 1), block(width, width, 1))
        self.classifier = nn.Conv2d(width, n_classes, kernel_size=1)

    def forward(self, x):
        f = self.stem(x)
        f = f + self.context(f)
        logits = self.classifier(f)
        return F.interpolate(logits, size=x.shape[-2:], mode="bilinear", align_corners=False)


def mean_iou(pred, true):
    ious = []
    for c in range(N_CLASSES):
        inter = ((pred == c) & (true == c)).sum().item()
        union = ((pred == c) | (true == c)).sum().item()
        if union:
            ious.append(inter / union)
    return sum(ious) / len(ious)


train = DataLoader(TensorDataset(images[:40], masks[:40]), batch_size=8, shuffle=True,
                   generator=torch.Generator().manual_seed(1))
net = LeafNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(6):
    net.train()
    total = 0.0
    for xb, yb in train:
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        pred = net(images[40:]).argmax(1)
    print(f"epoch {epoch}  loss {total / len(train):.3f}  val mIoU {mean_iou(pred, masks[40:]):.3f}")
"""
