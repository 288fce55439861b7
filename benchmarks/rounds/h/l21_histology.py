NAME = 'Trains a patch classifier on augmented histology scans.'
FAULT = 'The stain augmentation and normalisation run on the full 192 x 192 scan before the 48 x 48 patch is cut out (6 % of the pixels are used).'
CURE = 'Cut the patch first, then convert and augment it (all pointwise, so the result is the same).'
KIND = 'time'
FAULT_LINES = [
    'img = self.augment(img)',
    'img = random_patch(img)',
    'img = self.scans[i].float() / 255',
    'img = img.pow(gamma)',
    'img = (img * stain + bright).clamp(0, 1)',
    'return (img - MEAN) / STD',
    'for x, y in loader:',
]
FAULT_CALLS = ['augment', 'StainAugment.__call__', '__call__', '__getitem__', 'Histology.__getitem__', 'pow', 'Tensor.pow', 'aten::pow', 'clamp', 'aten::clamp', 'aten::mul', 'aten::sub', 'aten::div', 'aten::to', '__next__']
FAULTY = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(6)
np.random.seed(6)
torch.manual_seed(6)

# histology scans of three tissue types
SCAN, PATCH, N_SCANS = 192, 48, 240
MEAN = torch.tensor([0.62, 0.45, 0.58]).view(3, 1, 1)
STD = torch.tensor([0.21, 0.22, 0.19]).view(3, 1, 1)


def make_scans(n):
    labels = np.random.randint(0, 3, n)
    scans = np.empty((n, 3, SCAN, SCAN), dtype=np.uint8)
    ax = np.arange(SCAN, dtype=np.float32)
    for k, lab in enumerate(labels):
        period = (9.0, 14.0, 22.0)[lab] + np.random.rand()
        a, b = np.random.rand(2) * 6.28
        tex = np.sin(6.28 * ax / period + a)[:, None] * np.sin(6.28 * ax / period + b)[None, :]
        for c, level in enumerate((158, 115, 148)):
            noise = np.random.randint(-25, 25, (SCAN, SCAN))
            scans[k, c] = np.clip(level + 45 * tex + noise, 0, 255)
    return torch.from_numpy(scans), torch.from_numpy(labels)


class StainAugment:
    '''gamma, per-channel stain strength and brightness'''

    def __call__(self, img):
        gamma = random.uniform(0.8, 1.25)
        stain = torch.tensor([random.uniform(0.85, 1.15) for _ in range(3)]).view(3, 1, 1)
        bright = random.uniform(-0.08, 0.08)
        img = img.pow(gamma)
        img = (img * stain + bright).clamp(0, 1)
        return (img - MEAN) / STD


def random_patch(img):
    top = int(torch.randint(0, SCAN - PATCH + 1, ()))
    left = int(torch.randint(0, SCAN - PATCH + 1, ()))
    img = img[:, top:top + PATCH, left:left + PATCH]
    return img.flip(-1) if torch.rand(()) < 0.5 else img


class Histology(Dataset):
    def __init__(self, scans, labels):
        self.scans, self.labels = scans, labels
        self.augment = StainAugment()

    def __len__(self):
        return len(self.scans)

    def __getitem__(self, i):
        img = self.scans[i].float() / 255
        img = self.augment(img)
        img = random_patch(img)
        return img, self.labels[i]


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3))
        self.cls = nn.Linear(48 * 9, 3)

    def forward(self, x):
        return self.cls(self.features(x).flatten(1))


scans, labels = make_scans(N_SCANS)
loader = DataLoader(Histology(scans, labels), batch_size=24, shuffle=True)
net = PatchNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(40):
    right = total = 0
    for x, y in loader:
        out = net(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
        total += len(y)
    if epoch % 13 == 0:
        print(f'epoch {epoch}: loss {loss.item():.4f} train accuracy {right / total:.3f}')
"""
CURED = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(6)
np.random.seed(6)
torch.manual_seed(6)

# histology scans of three tissue types
SCAN, PATCH, N_SCANS = 192, 48, 240
MEAN = torch.tensor([0.62, 0.45, 0.58]).view(3, 1, 1)
STD = torch.tensor([0.21, 0.22, 0.19]).view(3, 1, 1)


def make_scans(n):
    labels = np.random.randint(0, 3, n)
    scans = np.empty((n, 3, SCAN, SCAN), dtype=np.uint8)
    ax = np.arange(SCAN, dtype=np.float32)
    for k, lab in enumerate(labels):
        period = (9.0, 14.0, 22.0)[lab] + np.random.rand()
        a, b = np.random.rand(2) * 6.28
        tex = np.sin(6.28 * ax / period + a)[:, None] * np.sin(6.28 * ax / period + b)[None, :]
        for c, level in enumerate((158, 115, 148)):
            noise = np.random.randint(-25, 25, (SCAN, SCAN))
            scans[k, c] = np.clip(level + 45 * tex + noise, 0, 255)
    return torch.from_numpy(scans), torch.from_numpy(labels)


class StainAugment:
    '''gamma, per-channel stain strength and brightness'''

    def __call__(self, img):
        gamma = random.uniform(0.8, 1.25)
        stain = torch.tensor([random.uniform(0.85, 1.15) for _ in range(3)]).view(3, 1, 1)
        bright = random.uniform(-0.08, 0.08)
        img = img.pow(gamma)
        img = (img * stain + bright).clamp(0, 1)
        return (img - MEAN) / STD


def random_patch(img):
    top = int(torch.randint(0, SCAN - PATCH + 1, ()))
    left = int(torch.randint(0, SCAN - PATCH + 1, ()))
    img = img[:, top:top + PATCH, left:left + PATCH]
    return img.flip(-1) if torch.rand(()) < 0.5 else img


class Histology(Dataset):
    def __init__(self, scans, labels):
        self.scans, self.labels = scans, labels
        self.augment = StainAugment()

    def __len__(self):
        return len(self.scans)

    def __getitem__(self, i):
        img = random_patch(self.scans[i]).float() / 255
        return self.augment(img), self.labels[i]


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3))
        self.cls = nn.Linear(48 * 9, 3)

    def forward(self, x):
        return self.cls(self.features(x).flatten(1))


scans, labels = make_scans(N_SCANS)
loader = DataLoader(Histology(scans, labels), batch_size=24, shuffle=True)
net = PatchNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(40):
    right = total = 0
    for x, y in loader:
        out = net(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
        total += len(y)
    if epoch % 13 == 0:
        print(f'epoch {epoch}: loss {loss.item():.4f} train accuracy {right / total:.3f}')
"""
