NAME = 'Trains a small CNN on random crops of synthetic leaf photos with colour augmentation in a Dataset.'
FAULT = 'The HSV colour jitter and the normalisation are applied to the whole 288x288 photo, and only afterwards is the 96x96 crop cut out.'
CURE = 'Cut the crop from the uint8 photo first and run the pointwise augmentations on the crop only.'
KIND = 'time'
FAULT_LINES = ['x = photo.float().div_(255.0)', 'x = jitter_hsv(x, hue, sat, val)', 'x = x.sub_(MEAN).div_(STD)', 'x = x[:, top:top + CROP, left:left + CROP]']
FAULT_CALLS = ['jitter_hsv', '__getitem__', 'LeafPhotos.__getitem__', 'remainder_', 'where', 'max', 'minimum', 'clamp_']

FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(11)

SIDE, CROP, N_TRAIN, N_TEST, EPOCHS = 288, 96, 192, 64, 7
MEAN = torch.tensor([0.42, 0.50, 0.33]).view(3, 1, 1)
STD = torch.tensor([0.21, 0.20, 0.19]).view(3, 1, 1)


def synth_leaf(label, gen):
    """A textured disc with veins; the number of veins and the hue depend on the class."""
    axis = torch.linspace(-1, 1, SIDE)
    y, x = axis[:, None], axis[None, :]
    theta = torch.atan2(y, x)
    radius = (x * x + y * y).sqrt()
    phase = 6.28 * torch.rand(1, generator=gen)
    veins = 0.5 + 0.5 * torch.cos((3 + 2 * label) * theta + phase)
    body = torch.sigmoid(30 * (0.9 + 0.08 * veins - radius))
    tint = torch.tensor([0.25 + 0.1 * label, 0.65, 0.2]).view(3, 1, 1)
    img = 0.85 * body * (0.5 * tint + 0.5 * tint * veins) + 0.1
    img = img + 0.06 * torch.randn(3, SIDE, SIDE, generator=gen)
    return (img.clamp(0, 1) * 255).to(torch.uint8)


def jitter_hsv(x, hue, sat, val):
    top, arg = x.max(0)
    span = top - x.min(0).values
    safe = span.clamp_min(1e-6)
    r, g, b = x
    h = torch.where(arg == 0, (g - b) / safe, torch.where(arg == 1, 2 + (b - r) / safe, 4 + (r - g) / safe))
    h = h + 6 * hue
    s = (sat * span / top.clamp_min(1e-6)).clamp_(0, 1)
    v = (val * top).clamp_(0, 1)
    k = (torch.tensor([5.0, 3.0, 1.0]).view(3, 1, 1) + h).remainder_(6)
    return v - v * s * torch.minimum(k, 4 - k).clamp_(0, 1)


class LeafPhotos(Dataset):
    def __init__(self, n, seed, augment):
        gen = torch.Generator().manual_seed(seed)
        self.labels = [i % 4 for i in range(n)]
        self.photos = [synth_leaf(label, gen) for label in self.labels]
        self.rng = np.random.default_rng(seed)
        self.augment = augment

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        photo = self.photos[i]
        if self.augment:
            top, left = self.rng.integers(0, SIDE - CROP, 2).tolist()
            hue = float(self.rng.uniform(-0.04, 0.04))
            sat, val = self.rng.uniform(0.75, 1.25, 2).tolist()
        else:
            top = left = (SIDE - CROP) // 2
            hue, sat, val = 0.0, 1.0, 1.0
        x = photo.float().div_(255.0)
        x = jitter_hsv(x, hue, sat, val)
        x = x.sub_(MEAN).div_(STD)
        x = x[:, top:top + CROP, left:left + CROP]
        return x, self.labels[i]


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU())
        self.head = nn.Linear(48, 4)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


train = DataLoader(LeafPhotos(N_TRAIN, 1, True), batch_size=32, shuffle=True)
test = DataLoader(LeafPhotos(N_TEST, 2, False), batch_size=40)
net = SmallNet()
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

for epoch in range(EPOCHS):
    net.train()
    total = 0.0
    for x, y in train:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.2f}")

net.eval()
with torch.no_grad():
    hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
print("test accuracy:", round(hits / N_TEST, 2))
'''

CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(11)

SIDE, CROP, N_TRAIN, N_TEST, EPOCHS = 288, 96, 192, 64, 7
MEAN = torch.tensor([0.42, 0.50, 0.33]).view(3, 1, 1)
STD = torch.tensor([0.21, 0.20, 0.19]).view(3, 1, 1)


def synth_leaf(label, gen):
    """A textured disc with veins; the number of veins and the hue depend on the class."""
    axis = torch.linspace(-1, 1, SIDE)
    y, x = axis[:, None], axis[None, :]
    theta = torch.atan2(y, x)
    radius = (x * x + y * y).sqrt()
    phase = 6.28 * torch.rand(1, generator=gen)
    veins = 0.5 + 0.5 * torch.cos((3 + 2 * label) * theta + phase)
    body = torch.sigmoid(30 * (0.9 + 0.08 * veins - radius))
    tint = torch.tensor([0.25 + 0.1 * label, 0.65, 0.2]).view(3, 1, 1)
    img = 0.85 * body * (0.5 * tint + 0.5 * tint * veins) + 0.1
    img = img + 0.06 * torch.randn(3, SIDE, SIDE, generator=gen)
    return (img.clamp(0, 1) * 255).to(torch.uint8)


def jitter_hsv(x, hue, sat, val):
    top, arg = x.max(0)
    span = top - x.min(0).values
    safe = span.clamp_min(1e-6)
    r, g, b = x
    h = torch.where(arg == 0, (g - b) / safe, torch.where(arg == 1, 2 + (b - r) / safe, 4 + (r - g) / safe))
    h = h + 6 * hue
    s = (sat * span / top.clamp_min(1e-6)).clamp_(0, 1)
    v = (val * top).clamp_(0, 1)
    k = (torch.tensor([5.0, 3.0, 1.0]).view(3, 1, 1) + h).remainder_(6)
    return v - v * s * torch.minimum(k, 4 - k).clamp_(0, 1)


class LeafPhotos(Dataset):
    def __init__(self, n, seed, augment):
        gen = torch.Generator().manual_seed(seed)
        self.labels = [i % 4 for i in range(n)]
        self.photos = [synth_leaf(label, gen) for label in self.labels]
        self.rng = np.random.default_rng(seed)
        self.augment = augment

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        photo = self.photos[i]
        if self.augment:
            top, left = self.rng.integers(0, SIDE - CROP, 2).tolist()
            hue = float(self.rng.uniform(-0.04, 0.04))
            sat, val = self.rng.uniform(0.75, 1.25, 2).tolist()
        else:
            top = left = (SIDE - CROP) // 2
            hue, sat, val = 0.0, 1.0, 1.0
        x = photo[:, top:top + CROP, left:left + CROP].float().div_(255.0)
        x = jitter_hsv(x, hue, sat, val)
        x = x.sub_(MEAN).div_(STD)
        return x, self.labels[i]


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU())
        self.head = nn.Linear(48, 4)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


train = DataLoader(LeafPhotos(N_TRAIN, 1, True), batch_size=32, shuffle=True)
test = DataLoader(LeafPhotos(N_TEST, 2, False), batch_size=40)
net = SmallNet()
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

for epoch in range(EPOCHS):
    net.train()
    total = 0.0
    for x, y in train:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.2f}")

net.eval()
with torch.no_grad():
    hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
print("test accuracy:", round(hits / N_TEST, 2))
'''
