# The PIL work per item per epoch is the augmentation itself: crop window, flip and brightness are
# drawn anew each time, so nothing deterministic is left to cache; and it is the smaller part of
# the time beside the network.

NAME = 'g17_leaf_photos'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'PIL crops and resizes each picture again in __getitem__ in each epoch with num_workers=0; resize once and cache.'

GOOD = r'''
import random
import numpy as np
import torch
import torch.nn as nn
from PIL import Image, ImageDraw, ImageEnhance
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
random.seed(1); np.random.seed(1); torch.manual_seed(1)


def draw_leaf(kind, size=96):
    im = Image.new("RGB", (size, size), (random.randint(150, 230),) * 3)
    d = ImageDraw.Draw(im)
    w, h = random.randint(20, 30), random.randint(36, 46)
    c = size // 2
    green = (random.randint(20, 80), random.randint(110, 190), random.randint(20, 80))
    if kind == 0:                                   # oval
        d.ellipse([c - w, c - h, c + w, c + h], fill=green)
    elif kind == 1:                                 # lance
        d.polygon([(c, c - h), (c + w, c), (c, c + h), (c - w, c)], fill=green)
    else:                                           # lobed
        for k in range(3):
            y = c - h + k * 28
            d.ellipse([c - w, y, c + w, y + 26], fill=green)
    return im.rotate(random.uniform(-40, 40), fillcolor=(190, 190, 190))


class Leaves(Dataset):
    def __init__(self, n, train):
        self.y = [i % 3 for i in range(n)]
        self.im = [draw_leaf(k) for k in self.y]
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        im = self.im[i]
        if self.train:
            # random resized crop, flip, brightness
            s = random.randint(64, 96)
            x, y = random.randint(0, 96 - s), random.randint(0, 96 - s)
            im = im.resize((64, 64), Image.BILINEAR, box=(x, y, x + s, y + s))
            if random.random() < 0.5:
                im = im.transpose(Image.FLIP_LEFT_RIGHT)
            im = ImageEnhance.Brightness(im).enhance(random.uniform(0.7, 1.3))
        else:
            im = im.resize((64, 64), Image.BILINEAR, box=(8, 8, 88, 88))
        return torch.from_numpy(np.array(im)), self.y[i]


def to_float(x):
    return x.permute(0, 3, 1, 2).float().div_(127.5).sub_(1)


train = DataLoader(Leaves(420, True), batch_size=42, shuffle=True)
test = DataLoader(Leaves(150, False), batch_size=75)
net = nn.Sequential(
    nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(256, 3),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(6):
    net.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(net(to_float(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        ok = sum((net(to_float(x)).argmax(1) == y).sum().item() for x, y in test)
    print(f"epoch {epoch}: loss {loss.item():.3f}, test acc {ok / 150:.3f}")
'''
