NAME = 'Trains a small convolutional classifier of leaf diseases on random crops with gamma, gain and saturation augmentation.'
FAULT = 'The gamma, saturation and normalisation work is done on the whole 256x256 picture, of which only a 64x64 crop is kept.'
CURE = 'Take the crop first, then do the pointwise colour work on the crop alone.'
KIND = 'time'
FAULT_LINES = [
    'img = self.images[k].float() / 255',
    'img = (img.clamp_min(1e-4) ** gamma * gain).clamp(0, 1)',
    'grey = img.mean(0, keepdim=True)',
    'img = (grey + sat * (img - grey)).clamp(0, 1)',
    'img = (img - self.mean) / self.std',
    'img = img[:, top:top + self.size, left:left + self.size]',
]
FAULT_CALLS = ['__getitem__', 'pow', '__pow__', 'clamp', 'clamp_min', 'mean', 'sub', 'div', 'mul', 'add', 'float']
FAULTY = r"""
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)


def make_leaves(n, side=256, classes=4):
    y = torch.randint(classes, (n,))
    grid = torch.linspace(0, 6.28, side)
    imgs = torch.empty(n, 3, side, side, dtype=torch.uint8)
    for i in range(n):
        wave = torch.sin(grid * (3 + 4 * int(y[i])))[None, :] * torch.cos(grid * 5)[:, None]
        base = 110 + 60 * wave + 18 * torch.randn(side, side)
        tint = torch.tensor([0.8, 1.1, 0.6]) + 0.1 * torch.randn(3)
        imgs[i] = (base[None] * tint[:, None, None]).clamp(0, 255).to(torch.uint8)
    return imgs, y


class LeafCrops(Dataset):
    def __init__(self, images, labels, size=64):
        self.images, self.labels, self.size = images, labels, size
        self.mean = torch.tensor([0.46, 0.50, 0.38]).view(3, 1, 1)
        self.std = torch.tensor([0.21, 0.20, 0.19]).view(3, 1, 1)

    def __len__(self):
        return len(self.labels)

    def draw(self):
        h, w = self.images.shape[-2:]
        return (random.uniform(0.7, 1.4), random.uniform(0.9, 1.1), random.uniform(0.6, 1.4),
                random.randrange(h - self.size), random.randrange(w - self.size), random.random() < 0.5)

    def __getitem__(self, k):
        gamma, gain, sat, top, left, flip = self.draw()
        img = self.images[k].float() / 255
        img = (img.clamp_min(1e-4) ** gamma * gain).clamp(0, 1)
        grey = img.mean(0, keepdim=True)
        img = (grey + sat * (img - grey)).clamp(0, 1)
        img = (img - self.mean) / self.std
        img = img[:, top:top + self.size, left:left + self.size]
        if flip:
            img = img.flip(-1)
        return img, self.labels[k]


class LeafNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.out = nn.Linear(48, classes)

    def forward(self, x):
        return self.out(self.body(x).flatten(1))


images, labels = make_leaves(500)
loader = DataLoader(LeafCrops(images, labels), batch_size=25, shuffle=True)
net = LeafNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(6):
    running, hits = 0.0, 0
    for xb, yb in loader:
        logits = net(xb)
        loss = F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(yb)
        hits += (logits.argmax(1) == yb).sum().item()
    print(f'epoch {epoch}: loss {running / len(labels):.3f}  acc {hits / len(labels):.3f}')
"""
CURED = r"""
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)


def make_leaves(n, side=256, classes=4):
    y = torch.randint(classes, (n,))
    grid = torch.linspace(0, 6.28, side)
    imgs = torch.empty(n, 3, side, side, dtype=torch.uint8)
    for i in range(n):
        wave = torch.sin(grid * (3 + 4 * int(y[i])))[None, :] * torch.cos(grid * 5)[:, None]
        base = 110 + 60 * wave + 18 * torch.randn(side, side)
        tint = torch.tensor([0.8, 1.1, 0.6]) + 0.1 * torch.randn(3)
        imgs[i] = (base[None] * tint[:, None, None]).clamp(0, 255).to(torch.uint8)
    return imgs, y


class LeafCrops(Dataset):
    def __init__(self, images, labels, size=64):
        self.images, self.labels, self.size = images, labels, size
        self.mean = torch.tensor([0.46, 0.50, 0.38]).view(3, 1, 1)
        self.std = torch.tensor([0.21, 0.20, 0.19]).view(3, 1, 1)

    def __len__(self):
        return len(self.labels)

    def draw(self):
        h, w = self.images.shape[-2:]
        return (random.uniform(0.7, 1.4), random.uniform(0.9, 1.1), random.uniform(0.6, 1.4),
                random.randrange(h - self.size), random.randrange(w - self.size), random.random() < 0.5)

    def __getitem__(self, k):
        gamma, gain, sat, top, left, flip = self.draw()
        img = self.images[k, :, top:top + self.size, left:left + self.size].float() / 255
        img = (img.clamp_min(1e-4) ** gamma * gain).clamp(0, 1)
        grey = img.mean(0, keepdim=True)
        img = (grey + sat * (img - grey)).clamp(0, 1)
        img = (img - self.mean) / self.std
        if flip:
            img = img.flip(-1)
        return img, self.labels[k]


class LeafNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.out = nn.Linear(48, classes)

    def forward(self, x):
        return self.out(self.body(x).flatten(1))


images, labels = make_leaves(500)
loader = DataLoader(LeafCrops(images, labels), batch_size=25, shuffle=True)
net = LeafNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(6):
    running, hits = 0.0, 0
    for xb, yb in loader:
        logits = net(xb)
        loss = F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(yb)
        hits += (logits.argmax(1) == yb).sum().item()
    print(f'epoch {epoch}: loss {running / len(labels):.3f}  acc {hits / len(labels):.3f}')
"""
