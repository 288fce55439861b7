NAME = 'Galaxy morphology classifier trained with large virtual batches of 16 micro-batches'
FAULT = 'The losses of the 16 micro-batches are summed and backward is called once at the end, so the activation graphs of all micro-batches are alive together, which gradient accumulation was to avoid'
CURE = 'Call backward on each micro-batch loss at once and add up only its number'
KIND = 'memory'
FAULT_LINES = ['total = total + loss / ACCUM', 'total.backward()', 'total = 0.0']
FAULT_CALLS = ['net', 'total.backward', 'conv2d', 'F.cross_entropy']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

SIZE, MICRO, ACCUM, UPDATES = 64, 8, 16, 3


def galaxy(kind):
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    th = rng.uniform(0, np.pi)
    u = xx * np.cos(th) + yy * np.sin(th)
    v = -xx * np.sin(th) + yy * np.cos(th)
    r = np.sqrt(u ** 2 + (v / rng.uniform(0.5, 1.0)) ** 2)
    if kind == 0:          # elliptical
        img = np.exp(-(r / 0.25) ** 0.8)
    elif kind == 1:        # spiral
        arm = np.cos(2 * np.arctan2(v, u) - 9 * r + rng.uniform(0, 6))
        img = np.exp(-r / 0.35) * (1 + 0.8 * arm)
    else:                  # edge-on
        img = np.exp(-np.abs(u) / 0.45) * np.exp(-np.abs(v) / 0.06)
    flux = np.stack([img, 0.8 * img, 0.6 * img])
    return (flux + rng.normal(0, 0.08, flux.shape)).astype(np.float32)


def draw(n):
    y = rng.integers(0, 3, n)
    return torch.from_numpy(np.stack([galaxy(k) for k in y])), torch.from_numpy(y)


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.Conv2d(c, c, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(4, c), nn.GroupNorm(4, c)

    def forward(self, x):
        h = F.silu(self.n1(self.a(x)))
        return F.silu(x + self.n2(self.b(h)))


class MorphNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 3, padding=1)
        self.blocks = nn.Sequential(ResBlock(c), nn.AvgPool2d(2), ResBlock(c), nn.AvgPool2d(2), ResBlock(c))
        self.head = nn.Linear(c, 3)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


net = MorphNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)

for update in range(UPDATES):
    opt.zero_grad()
    total = 0.0
    for k in range(ACCUM):
        x, y = draw(MICRO)
        loss = F.cross_entropy(net(x), y)
        total = total + loss / ACCUM
    total.backward()
    gnorm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    print(f"update {update + 1}: loss {total.item():.4f}  grad norm {gnorm.item():.4f}")

net.eval()
with torch.no_grad():
    right = 0
    for _ in range(8):
        x, y = draw(MICRO)
        right += (net(x).argmax(1) == y).sum().item()
print("test accuracy", right / (8 * MICRO))
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

SIZE, MICRO, ACCUM, UPDATES = 64, 8, 16, 3


def galaxy(kind):
    yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]
    th = rng.uniform(0, np.pi)
    u = xx * np.cos(th) + yy * np.sin(th)
    v = -xx * np.sin(th) + yy * np.cos(th)
    r = np.sqrt(u ** 2 + (v / rng.uniform(0.5, 1.0)) ** 2)
    if kind == 0:          # elliptical
        img = np.exp(-(r / 0.25) ** 0.8)
    elif kind == 1:        # spiral
        arm = np.cos(2 * np.arctan2(v, u) - 9 * r + rng.uniform(0, 6))
        img = np.exp(-r / 0.35) * (1 + 0.8 * arm)
    else:                  # edge-on
        img = np.exp(-np.abs(u) / 0.45) * np.exp(-np.abs(v) / 0.06)
    flux = np.stack([img, 0.8 * img, 0.6 * img])
    return (flux + rng.normal(0, 0.08, flux.shape)).astype(np.float32)


def draw(n):
    y = rng.integers(0, 3, n)
    return torch.from_numpy(np.stack([galaxy(k) for k in y])), torch.from_numpy(y)


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.Conv2d(c, c, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(4, c), nn.GroupNorm(4, c)

    def forward(self, x):
        h = F.silu(self.n1(self.a(x)))
        return F.silu(x + self.n2(self.b(h)))


class MorphNet(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 3, padding=1)
        self.blocks = nn.Sequential(ResBlock(c), nn.AvgPool2d(2), ResBlock(c), nn.AvgPool2d(2), ResBlock(c))
        self.head = nn.Linear(c, 3)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


net = MorphNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)

for update in range(UPDATES):
    opt.zero_grad()
    total = 0.0
    for k in range(ACCUM):
        x, y = draw(MICRO)
        loss = F.cross_entropy(net(x), y)
        (loss / ACCUM).backward()
        total += loss.item() / ACCUM
    gnorm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    print(f"update {update + 1}: loss {total:.4f}  grad norm {gnorm.item():.4f}")

net.eval()
with torch.no_grad():
    right = 0
    for _ in range(8):
        x, y = draw(MICRO)
        right += (net(x).argmax(1) == y).sum().item()
print("test accuracy", right / (8 * MICRO))
"""
