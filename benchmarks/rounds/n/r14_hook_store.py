NAME = 'Trains a small CNN on synthetic shapes and watches the share of dead ReLU channels with a forward hook.'
FAULT = 'The forward hook stores the complete (detached) activation maps of every training batch in a list that is only used for channel statistics at the end of the epoch.'
CURE = 'Reduce the activation to its per-channel maximum inside the hook and store only that.'
KIND = 'memory'
FAULT_LINES = ['captured[name].append(out.detach())', 'layer.register_forward_hook(watch(name))', 'maps = torch.cat(captured[name])']
FAULT_CALLS = ['append', 'detach', 'hook', 'cat', 'relu', 'ReLU', 'register_forward_hook']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader
from collections import defaultdict
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(12)

# --- discs, squares and crosses on noise
def shapes(n, s=32):
    g = torch.arange(s).float()
    cy, cx = torch.randint(8, 24, (2, n, 1, 1)).float()
    r = torch.randint(4, 8, (n, 1, 1)).float()
    dy, dx = (g[None, :, None] - cy).abs(), (g[None, None, :] - cx).abs()
    y = torch.randint(0, 3, (n,))
    disc = dy ** 2 + dx ** 2 < r ** 2
    square = torch.maximum(dy, dx) < r * 0.85
    cross = ((dy < 2) | (dx < 2)) & (torch.maximum(dy, dx) < r)
    img = torch.stack([disc, square, cross], 1)[torch.arange(n), y].float()
    return (img + 0.3 * torch.randn(n, s, s)).unsqueeze(1), y

Xtr, ytr = shapes(2304)
Xte, yte = shapes(400)
train = DataLoader(TensorDataset(Xtr, ytr), batch_size=64, shuffle=True)


class ShapeNet(nn.Module):
    def __init__(self, w=40):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(w, w, 3, padding=1, stride=2), nn.ReLU())
        self.top = nn.Sequential(nn.Conv2d(w, 2 * w, 3, padding=1, stride=2), nn.ReLU())
        self.fc = nn.Linear(2 * w, 3)

    def forward(self, x):
        x = self.top(self.mid(self.stem(x)))
        return self.fc(x.mean((2, 3)))


net = ShapeNet()
captured = defaultdict(list)

def watch(name):
    def hook(module, inp, out):
        if module.training:
            captured[name].append(out.detach())
    return hook

for name, layer in net.named_modules():
    if isinstance(layer, nn.ReLU):
        layer.register_forward_hook(watch(name))

opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, weight_decay=1e-4)
dead_share = defaultdict(list)
for epoch in range(3):
    net.train()
    for x, y in train:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    for name in captured:
        maps = torch.cat(captured[name])
        alive = maps.amax((0, 2, 3)) > 0
        dead_share[name].append(1 - alive.float().mean().item())
        del maps
    captured.clear()
    net.eval()
    with torch.no_grad():
        acc = torch.cat([net(c) for c in Xte.split(100)]).argmax(1).eq(yte).float().mean().item()
    print(f'epoch {epoch}: loss {loss.item():.4f}  test acc {acc:.4f}  dead', {k: round(v[-1], 3) for k, v in dead_share.items()})

for name, v in dead_share.items():
    plt.plot(v, marker='o', label=name)
plt.legend()
plt.xlabel('epoch')
plt.ylabel('share of dead channels')
plt.show()
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader
from collections import defaultdict
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(12)

# --- discs, squares and crosses on noise
def shapes(n, s=32):
    g = torch.arange(s).float()
    cy, cx = torch.randint(8, 24, (2, n, 1, 1)).float()
    r = torch.randint(4, 8, (n, 1, 1)).float()
    dy, dx = (g[None, :, None] - cy).abs(), (g[None, None, :] - cx).abs()
    y = torch.randint(0, 3, (n,))
    disc = dy ** 2 + dx ** 2 < r ** 2
    square = torch.maximum(dy, dx) < r * 0.85
    cross = ((dy < 2) | (dx < 2)) & (torch.maximum(dy, dx) < r)
    img = torch.stack([disc, square, cross], 1)[torch.arange(n), y].float()
    return (img + 0.3 * torch.randn(n, s, s)).unsqueeze(1), y

Xtr, ytr = shapes(2304)
Xte, yte = shapes(400)
train = DataLoader(TensorDataset(Xtr, ytr), batch_size=64, shuffle=True)


class ShapeNet(nn.Module):
    def __init__(self, w=40):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, w, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(w, w, 3, padding=1, stride=2), nn.ReLU())
        self.top = nn.Sequential(nn.Conv2d(w, 2 * w, 3, padding=1, stride=2), nn.ReLU())
        self.fc = nn.Linear(2 * w, 3)

    def forward(self, x):
        x = self.top(self.mid(self.stem(x)))
        return self.fc(x.mean((2, 3)))


net = ShapeNet()
captured = defaultdict(list)

def watch(name):
    def hook(module, inp, out):
        if module.training:
            captured[name].append(out.detach().amax((2, 3)))
    return hook

for name, layer in net.named_modules():
    if isinstance(layer, nn.ReLU):
        layer.register_forward_hook(watch(name))

opt = torch.optim.SGD(net.parameters(), lr=0.08, momentum=0.9, weight_decay=1e-4)
dead_share = defaultdict(list)
for epoch in range(3):
    net.train()
    for x, y in train:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    for name in captured:
        maps = torch.cat(captured[name])
        alive = maps.amax(0) > 0
        dead_share[name].append(1 - alive.float().mean().item())
        del maps
    captured.clear()
    net.eval()
    with torch.no_grad():
        acc = torch.cat([net(c) for c in Xte.split(100)]).argmax(1).eq(yte).float().mean().item()
    print(f'epoch {epoch}: loss {loss.item():.4f}  test acc {acc:.4f}  dead', {k: round(v[-1], 3) for k, v in dead_share.items()})

for name, v in dead_share.items():
    plt.plot(v, marker='o', label=name)
plt.legend()
plt.xlabel('epoch')
plt.ylabel('share of dead channels')
plt.show()
"""
