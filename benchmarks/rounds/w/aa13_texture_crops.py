NAME = "Trains a small convolutional network on random crops of synthetic surface textures with gamma and tint augmentation."
FAULT = "Gamma, tint and normalisation are computed on the whole 224x224 frame although only a random 64x64 crop of it is kept, so most of the pointwise work is thrown away."
CURE = "Cut the crop out of the uint8 frame first and run the pointwise operations on the crop only."
KIND = "time"
FAULT_LINES = [
    "x = self.frames[i].float() / 255.0",
    "x = x.clamp(min=1e-4).pow(gamma)",
    "x = x * tint.view(3, 1, 1)",
    "x = (x - self.mean) / self.std",
    "x = x[:, top:top + self.size, left:left + self.size]",
]
FAULT_CALLS = ["pow", "clamp", "__getitem__", "div", "sub", "mul"]
FAULTY = r'''
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)

N_CLASSES, FULL, CROP = 6, 224, 64


def make_textures(n):
    """Oriented gratings plus noise, one orientation/frequency pair per class."""
    yy, xx = torch.meshgrid(torch.arange(FULL), torch.arange(FULL), indexing="ij")
    labels = torch.randint(0, N_CLASSES, (n,))
    frames = torch.empty(n, 3, FULL, FULL, dtype=torch.uint8)
    for k in range(n):
        c = labels[k].item()
        ang = math.pi * (c % 3) / 3 + random.gauss(0, 0.08)
        freq = 0.25 if c < 3 else 0.55
        phase = random.uniform(0, 2 * math.pi)
        g = torch.sin(freq * (xx * math.cos(ang) + yy * math.sin(ang)) + phase)
        img = 120 + 40 * g + 35 * torch.randn(3, FULL, FULL)
        frames[k] = img.clamp_(0, 255).to(torch.uint8)
    return frames, labels


class TextureCrops(Dataset):
    def __init__(self, frames, labels, size=CROP, train=True):
        self.frames, self.labels = frames, labels
        self.size, self.train = size, train
        self.mean = torch.tensor([0.47, 0.47, 0.47]).view(3, 1, 1)
        self.std = torch.tensor([0.18, 0.18, 0.18]).view(3, 1, 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        if self.train:
            top = random.randint(0, FULL - self.size)
            left = random.randint(0, FULL - self.size)
            gamma = random.uniform(0.7, 1.4)
            tint = torch.empty(3).uniform_(0.85, 1.15)
        else:
            top = left = (FULL - self.size) // 2
            gamma, tint = 1.05, torch.ones(3)
        x = self.frames[i].float() / 255.0
        x = x.clamp(min=1e-4).pow(gamma)
        x = x * tint.view(3, 1, 1)
        x = (x - self.mean) / self.std
        x = x[:, top:top + self.size, left:left + self.size]
        if self.train and random.random() < 0.5:
            x = x.flip(-1)
        return x, self.labels[i]


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False),
                         nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


net = nn.Sequential(block(3, 16), block(16, 32), block(32, 64),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, N_CLASSES))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

frames, labels = make_textures(640)
train_dl = DataLoader(TextureCrops(frames[:512], labels[:512]), batch_size=32, shuffle=True)
val_dl = DataLoader(TextureCrops(frames[512:], labels[512:], train=False), batch_size=64)

for epoch in range(12):
    net.train()
    total = 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    if epoch % 4 == 3:
        net.eval()
        hits = 0
        with torch.no_grad():
            for x, y in val_dl:
                hits += (net(x).argmax(1) == y).sum().item()
        print(f"epoch {epoch + 1:2d}  train loss {total / 512:.3f}  val acc {hits / 128:.3f}")
'''
CURED = FAULTY.replace(
    "x = self.frames[i].float() / 255.0",
    "x = self.frames[i][:, top:top + self.size, left:left + self.size].float() / 255.0",
).replace("        x = x[:, top:top + self.size, left:left + self.size]\n", "")
