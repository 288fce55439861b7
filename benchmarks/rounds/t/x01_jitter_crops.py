NAME = 'Trains a small CNN on random 64x64 crops of 320x320 photos with colour jitter in a map-style Dataset.'
FAULT = 'The colour jitter and normalisation are applied to the whole 320x320 image, and only then is the 64x64 crop taken, so most of the pixel work is thrown away.'
CURE = 'Crop first (the jitter is pointwise per pixel) and jitter only the crop.'
KIND = 'time'
FAULT_LINES = ['x = x[:, top:top + CROP, left:left + CROP]', 'x = img.float() / 255', 'x = x.clamp(1e-3, 1).pow(gamma)', 'x = gray + saturation * (x - gray)']
FAULT_CALLS = ['pow', 'clamp', '__getitem__', 'jitter_and_crop', 'mul', 'sub', 'float']
FAULTY = r"""import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

SIDE, CROP, CLASSES = 320, 64, 6
MEAN = torch.tensor([0.48, 0.45, 0.41]).view(3, 1, 1)
STD = torch.tensor([0.23, 0.22, 0.22]).view(3, 1, 1)
LUMA = torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)


def make_photos(n):
    labels = torch.arange(n) % CLASSES
    ramp = torch.linspace(0, 1, SIDE)
    photos = torch.empty(n, 3, SIDE, SIDE, dtype=torch.uint8)
    for i, c in enumerate(labels.tolist()):
        wave = torch.sin(ramp * (20 + 12 * c)).view(1, 1, SIDE)
        base = torch.rand(3, 1, 1) * 0.4 + 0.3 + 0.2 * wave
        noise = 0.12 * torch.randn(3, SIDE, SIDE)
        photos[i] = ((base + noise).clamp(0, 1) * 255).to(torch.uint8)
    return photos, labels


def jitter_and_crop(img):
    gamma = random.uniform(0.7, 1.4)
    contrast = random.uniform(0.8, 1.2)
    saturation = random.uniform(0.6, 1.4)
    top = random.randint(0, SIDE - CROP)
    left = random.randint(0, SIDE - CROP)
    flip = random.random() < 0.5
    x = img.float() / 255
    x = x.clamp(1e-3, 1).pow(gamma)
    x = (x - 0.5) * contrast + 0.5
    gray = (x * LUMA).sum(0, keepdim=True)
    x = gray + saturation * (x - gray)
    x = (x - MEAN) / STD
    x = x[:, top:top + CROP, left:left + CROP]
    return x.flip(2) if flip else x


class PhotoDataset(Dataset):
    def __init__(self, photos, labels):
        self.photos, self.labels = photos, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return jitter_and_crop(self.photos[i]), self.labels[i]


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


stem = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True))
model = nn.Sequential(stem, block(16, 24), block(24, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))
loader = DataLoader(PhotoDataset(*make_photos(240)), batch_size=32, shuffle=True)
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(14):
    seen = correct = 0
    running = 0.0
    for x, y in loader:
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
        correct += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    print(f"epoch {epoch}: loss {running / seen:.3f} accuracy {correct / seen:.3f}")
"""
CURED = r"""import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)

SIDE, CROP, CLASSES = 320, 64, 6
MEAN = torch.tensor([0.48, 0.45, 0.41]).view(3, 1, 1)
STD = torch.tensor([0.23, 0.22, 0.22]).view(3, 1, 1)
LUMA = torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)


def make_photos(n):
    labels = torch.arange(n) % CLASSES
    ramp = torch.linspace(0, 1, SIDE)
    photos = torch.empty(n, 3, SIDE, SIDE, dtype=torch.uint8)
    for i, c in enumerate(labels.tolist()):
        wave = torch.sin(ramp * (20 + 12 * c)).view(1, 1, SIDE)
        base = torch.rand(3, 1, 1) * 0.4 + 0.3 + 0.2 * wave
        noise = 0.12 * torch.randn(3, SIDE, SIDE)
        photos[i] = ((base + noise).clamp(0, 1) * 255).to(torch.uint8)
    return photos, labels


def jitter_and_crop(img):
    gamma = random.uniform(0.7, 1.4)
    contrast = random.uniform(0.8, 1.2)
    saturation = random.uniform(0.6, 1.4)
    top = random.randint(0, SIDE - CROP)
    left = random.randint(0, SIDE - CROP)
    flip = random.random() < 0.5
    x = img[:, top:top + CROP, left:left + CROP].float() / 255
    x = x.clamp(1e-3, 1).pow(gamma)
    x = (x - 0.5) * contrast + 0.5
    gray = (x * LUMA).sum(0, keepdim=True)
    x = gray + saturation * (x - gray)
    x = (x - MEAN) / STD
    return x.flip(2) if flip else x


class PhotoDataset(Dataset):
    def __init__(self, photos, labels):
        self.photos, self.labels = photos, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return jitter_and_crop(self.photos[i]), self.labels[i]


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


stem = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True))
model = nn.Sequential(stem, block(16, 24), block(24, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))
loader = DataLoader(PhotoDataset(*make_photos(240)), batch_size=32, shuffle=True)
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(14):
    seen = correct = 0
    running = 0.0
    for x, y in loader:
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
        correct += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    print(f"epoch {epoch}: loss {running / seen:.3f} accuracy {correct / seen:.3f}")
"""
