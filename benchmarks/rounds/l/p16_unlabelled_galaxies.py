NAME = 'Trains a galaxy classifier semi-supervised with a stream of unlabelled images beside a few labelled ones.'
FAULT = 'itertools.cycle around the DataLoader keeps every batch that it hands out, to repeat them later.'
CURE = 'A small generator that starts the DataLoader afresh: while True: yield from loader.'
KIND = 'memory'
FAULT_LINES = [
    'stream = itertools.cycle(loader)',
    'xu = next(stream)',
    'loader = DataLoader(Sky(8000), batch_size=64)',
]
FAULT_CALLS = [
    'itertools.cycle',
    'DataLoader.__next__',
    'default_collate',
    'torch.stack',
    'next',
    'Sky.__getitem__',
]

FAULTY = r"""
import itertools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(44)

size = 64
g = torch.linspace(-1, 1, size)
yy, xx = torch.meshgrid(g, g, indexing="ij")
radius, angle = (xx ** 2 + yy ** 2).sqrt(), torch.atan2(yy, xx)


def galaxy(seed):
    # kind 0: elliptical, 1: two arms, 2: three arms
    gen = torch.Generator().manual_seed(seed)
    kind = int(torch.randint(0, 3, (), generator=gen))
    r = torch.rand(3, generator=gen).tolist()
    light = torch.exp(-radius * (4 + 3 * r[0]))
    if kind:
        light = light * (1 + 0.8 * torch.cos((kind + 1) * (angle - 5 * radius) + 2 * math.pi * r[1]))
    img = torch.stack([light, light.sqrt() * 0.5, light * r[2]])
    return img + 0.05 * torch.randn(3, size, size, generator=gen), kind


class Sky(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return galaxy(100_000 + i)[0]


labelled = [galaxy(i) for i in range(96)]
xl_all = torch.stack([a for a, _ in labelled])
yl_all = torch.tensor([b for _, b in labelled])

net = nn.Sequential(
    nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

loader = DataLoader(Sky(8000), batch_size=64)
stream = itertools.cycle(loader)

kept = 0.0
for step in range(120):
    xu = next(stream)
    pick = torch.randint(0, len(xl_all), (32,))
    with torch.no_grad():
        conf, guess = net(xu).softmax(1).max(1)
    sure = (conf > 0.9).float()
    strong = xu.flip(-1).roll(int(torch.randint(-3, 4, ())), dims=2) + 0.05 * torch.randn_like(xu)
    sup = F.cross_entropy(net(xl_all[pick]), yl_all[pick])
    unsup = (F.cross_entropy(net(strong), guess, reduction="none") * sure).mean()
    loss = sup + unsup
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept += sure.mean().item()

with torch.no_grad():
    test = [galaxy(10_000 + i) for i in range(300)]
    acc = (net(torch.stack([a for a, _ in test])).argmax(1) == torch.tensor([b for _, b in test])).float().mean().item()
print(f"loss {loss.item():.4f}, used {kept / 120:.3f}, accuracy {acc:.3f}")
"""

CURED = r"""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(44)

size = 64
g = torch.linspace(-1, 1, size)
yy, xx = torch.meshgrid(g, g, indexing="ij")
radius, angle = (xx ** 2 + yy ** 2).sqrt(), torch.atan2(yy, xx)


def galaxy(seed):
    # kind 0: elliptical, 1: two arms, 2: three arms
    gen = torch.Generator().manual_seed(seed)
    kind = int(torch.randint(0, 3, (), generator=gen))
    r = torch.rand(3, generator=gen).tolist()
    light = torch.exp(-radius * (4 + 3 * r[0]))
    if kind:
        light = light * (1 + 0.8 * torch.cos((kind + 1) * (angle - 5 * radius) + 2 * math.pi * r[1]))
    img = torch.stack([light, light.sqrt() * 0.5, light * r[2]])
    return img + 0.05 * torch.randn(3, size, size, generator=gen), kind


class Sky(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return galaxy(100_000 + i)[0]


labelled = [galaxy(i) for i in range(96)]
xl_all = torch.stack([a for a, _ in labelled])
yl_all = torch.tensor([b for _, b in labelled])

net = nn.Sequential(
    nn.Conv2d(3, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

loader = DataLoader(Sky(8000), batch_size=64)


def endless(batches):
    while True:
        yield from batches


stream = endless(loader)

kept = 0.0
for step in range(120):
    xu = next(stream)
    pick = torch.randint(0, len(xl_all), (32,))
    with torch.no_grad():
        conf, guess = net(xu).softmax(1).max(1)
    sure = (conf > 0.9).float()
    strong = xu.flip(-1).roll(int(torch.randint(-3, 4, ())), dims=2) + 0.05 * torch.randn_like(xu)
    sup = F.cross_entropy(net(xl_all[pick]), yl_all[pick])
    unsup = (F.cross_entropy(net(strong), guess, reduction="none") * sure).mean()
    loss = sup + unsup
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept += sure.mean().item()

with torch.no_grad():
    test = [galaxy(10_000 + i) for i in range(300)]
    acc = (net(torch.stack([a for a, _ in test])).argmax(1) == torch.tensor([b for _, b in test])).float().mean().item()
print(f"loss {loss.item():.4f}, used {kept / 120:.3f}, accuracy {acc:.3f}")
"""
