NAME = 'Trains a land cover classifier on satellite tiles kept in memory.'
FAULT = 'All tiles are turned from bytes to normalised floats at the start, with several full-size copies.'
CURE = 'Keep the tiles as uint8 and convert and normalise each batch.'
KIND = 'memory'
FAULT_LINES = [
    'X = torch.from_numpy(tiles).float() / 255.0',
    'X = (X - mean) / std',
]
FAULT_CALLS = ['float', 'to', '_to_copy', 'div', '__truediv__', 'sub', '__sub__', 'prepare']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(12)
torch.manual_seed(12)


def load_tiles(n, side=80, classes=5):
    y = np.random.randint(0, classes, n)
    tiles = np.empty((n, 4, side, side), dtype=np.uint8)
    rows = np.arange(side)
    for i in range(n):
        stripes = 40 * np.sin(rows * (0.2 + 0.15 * y[i]))[None, :, None]
        tiles[i] = np.clip(120 + stripes + 25 * np.random.randn(4, side, side), 0, 255)
    return tiles, torch.from_numpy(y)


tiles, Y = load_tiles(3600)
print('tiles', tiles.shape, tiles.dtype)

mean = torch.tensor([0.47, 0.47, 0.47, 0.47]).view(1, 4, 1, 1)
std = torch.tensor([0.15, 0.15, 0.15, 0.15]).view(1, 4, 1, 1)

X = torch.from_numpy(tiles).float() / 255.0
X = (X - mean) / std

n_train = 3000
net = nn.Sequential(
    nn.Conv2d(4, 16, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(128, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(3):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(60):
        xb = X[idx]
        loss = loss_fn(net(xb), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    hits = 0
    with torch.no_grad():
        for idx in torch.arange(n_train, len(X)).split(100):
            xb = X[idx]
            hits += (net(xb).argmax(1) == Y[idx]).sum().item()
    print(f'epoch {epoch + 1}: loss {total / n_train:.3f}  val acc {hits / (len(X) - n_train):.3f}')
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(12)
torch.manual_seed(12)


def load_tiles(n, side=80, classes=5):
    y = np.random.randint(0, classes, n)
    tiles = np.empty((n, 4, side, side), dtype=np.uint8)
    rows = np.arange(side)
    for i in range(n):
        stripes = 40 * np.sin(rows * (0.2 + 0.15 * y[i]))[None, :, None]
        tiles[i] = np.clip(120 + stripes + 25 * np.random.randn(4, side, side), 0, 255)
    return tiles, torch.from_numpy(y)


tiles, Y = load_tiles(3600)
print('tiles', tiles.shape, tiles.dtype)

mean = torch.tensor([0.47, 0.47, 0.47, 0.47]).view(1, 4, 1, 1)
std = torch.tensor([0.15, 0.15, 0.15, 0.15]).view(1, 4, 1, 1)

X = torch.from_numpy(tiles)


def to_input(b):
    return (b.float() / 255.0 - mean) / std


n_train = 3000
net = nn.Sequential(
    nn.Conv2d(4, 16, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(128, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(3):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(60):
        xb = to_input(X[idx])
        loss = loss_fn(net(xb), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    hits = 0
    with torch.no_grad():
        for idx in torch.arange(n_train, len(X)).split(100):
            xb = to_input(X[idx])
            hits += (net(xb).argmax(1) == Y[idx]).sum().item()
    print(f'epoch {epoch + 1}: loss {total / n_train:.3f}  val acc {hits / (len(X) - n_train):.3f}')
"""
