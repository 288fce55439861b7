NAME = 'Leaf disease classification: random photometric augmentation and random crops of large photos, small CNN.'

FAULT = 'The photometric work (float conversion, gamma, normalisation) is done on the whole photo, of which a small crop is then kept.'

CURE = 'Crop first, then do the photometric work on the crop.'

KIND = 'time'

FAULT_LINES = ['x = photometric(photo, gamma)', 'x = x[top:top + CROP, left:left + CROP]', 'x = np.power(x, gamma)']

FAULT_CALLS = ['photometric', 'numpy.power', 'numpy.ndarray.astype']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(1)

SIZE, CROP, N_PHOTO, CLASSES = 256, 96, 120, 3
MEAN = np.array([0.32, 0.48, 0.24], dtype=np.float32)
STD = np.array([0.18, 0.20, 0.15], dtype=np.float32)


def make_photo(label, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE
    img = np.stack([0.25 + 0.1 * xx, 0.5 - 0.1 * yy, 0.2 + 0 * xx], -1)
    img += 0.04 * rng.standard_normal(img.shape).astype(np.float32)
    for _ in range([0, 40, 40][label]):
        cx, cy = rng.random(2)
        r = rng.uniform(0.02, 0.04)
        spot = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
        img[spot] = [(0, 0, 0), (0.55, 0.35, 0.12), (0.9, 0.9, 0.85)][label]
    return (img.clip(0, 1) * 255).astype(np.uint8)


def photometric(img, gamma):
    x = img.astype(np.float32) / 255.0
    x = np.power(x, gamma)
    return (x - MEAN) / STD


class LeafPhotos(Dataset):
    def __init__(self, photos, labels, train, seed=0):
        self.photos, self.labels, self.train = photos, labels, train
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        photo = self.photos[i]
        if self.train:
            gamma = np.float32(self.rng.uniform(0.8, 1.25))
            top, left = self.rng.integers(0, SIZE - CROP, 2)
        else:
            gamma, top, left = np.float32(1.0), (SIZE - CROP) // 2, (SIZE - CROP) // 2
        x = photometric(photo, gamma)
        x = x[top:top + CROP, left:left + CROP]
        return torch.from_numpy(np.ascontiguousarray(x.transpose(2, 0, 1))), self.labels[i]


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, CLASSES))

    def forward(self, x):
        return self.body(x)


rng = np.random.default_rng(1)
labels = rng.integers(0, CLASSES, N_PHOTO)
photos = [make_photo(y, rng) for y in labels]
train_dl = DataLoader(LeafPhotos(photos[:90], labels[:90], True), batch_size=15, shuffle=True)
test_dl = DataLoader(LeafPhotos(photos[90:], labels[90:], False), batch_size=30)

net = LeafNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
for epoch in range(24):
    seen = 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        seen += loss.item() * len(y)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {seen / 90:.4f}")
with torch.no_grad():
    right = sum((net(x).argmax(1) == y).sum().item() for x, y in test_dl)
print(f"test accuracy {right / 30:.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(1)

SIZE, CROP, N_PHOTO, CLASSES = 256, 96, 120, 3
MEAN = np.array([0.32, 0.48, 0.24], dtype=np.float32)
STD = np.array([0.18, 0.20, 0.15], dtype=np.float32)


def make_photo(label, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE
    img = np.stack([0.25 + 0.1 * xx, 0.5 - 0.1 * yy, 0.2 + 0 * xx], -1)
    img += 0.04 * rng.standard_normal(img.shape).astype(np.float32)
    for _ in range([0, 40, 40][label]):
        cx, cy = rng.random(2)
        r = rng.uniform(0.02, 0.04)
        spot = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
        img[spot] = [(0, 0, 0), (0.55, 0.35, 0.12), (0.9, 0.9, 0.85)][label]
    return (img.clip(0, 1) * 255).astype(np.uint8)


def photometric(img, gamma):
    x = img.astype(np.float32) / 255.0
    x = np.power(x, gamma)
    return (x - MEAN) / STD


class LeafPhotos(Dataset):
    def __init__(self, photos, labels, train, seed=0):
        self.photos, self.labels, self.train = photos, labels, train
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        photo = self.photos[i]
        if self.train:
            gamma = np.float32(self.rng.uniform(0.8, 1.25))
            top, left = self.rng.integers(0, SIZE - CROP, 2)
        else:
            gamma, top, left = np.float32(1.0), (SIZE - CROP) // 2, (SIZE - CROP) // 2
        x = photometric(photo[top:top + CROP, left:left + CROP], gamma)
        return torch.from_numpy(np.ascontiguousarray(x.transpose(2, 0, 1))), self.labels[i]


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, CLASSES))

    def forward(self, x):
        return self.body(x)


rng = np.random.default_rng(1)
labels = rng.integers(0, CLASSES, N_PHOTO)
photos = [make_photo(y, rng) for y in labels]
train_dl = DataLoader(LeafPhotos(photos[:90], labels[:90], True), batch_size=15, shuffle=True)
test_dl = DataLoader(LeafPhotos(photos[90:], labels[90:], False), batch_size=30)

net = LeafNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
for epoch in range(24):
    seen = 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        seen += loss.item() * len(y)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {seen / 90:.4f}")
with torch.no_grad():
    right = sum((net(x).argmax(1) == y).sum().item() for x, y in test_dl)
print(f"test accuracy {right / 30:.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 6.10 s (6.18, 6.02), cured 4.58 s (4.33, 4.83); share gained (faulty - cured) / faulty = 25%. Peak RSS 350 MB / 351 MB. Printed results identical.'
