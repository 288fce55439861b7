NAME = 'Trains an N-BEATS-like forecaster of an hourly load and restores the weights of the best validation epoch.'
FAULT = 'The keeper stores a deep copy of the weights of each epoch although only the best is ever restored.'
CURE = 'Keep one copy, replaced when the validation value improves.'
KIND = 'memory'
FAULT_LINES = [
    'self.rounds.append((value, epoch, copy.deepcopy(net.state_dict())))',
    'keeper.add(epoch, v, net)',
]
FAULT_CALLS = ['deepcopy', 'state_dict', 'add', 'clone']

FAULTY = r"""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
torch.set_num_threads(1)

# hourly load: daily and weekly rhythm, drift, noise
L, H = 168, 24
t = torch.arange(4000).float()
series = (torch.sin(2 * math.pi * t / 24) + 0.5 * torch.sin(2 * math.pi * t / 168 + 1)
          + 0.2 * torch.cumsum(torch.randn(4000), 0) / 30 + 0.25 * torch.randn(4000))
series = (series - series[:3000].mean()) / series[:3000].std()
win = series.unfold(0, L + H, 1)
train, val, test = win[:2000], win[2800:3200], win[3400:]


class Block(nn.Module):
    def __init__(self, h=1100):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(L, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.back, self.fore = nn.Linear(h, L), nn.Linear(h, H)

    def forward(self, x):
        z = self.fc(x)
        return x - self.back(z), self.fore(z)


class Beats(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(n))

    def forward(self, x):
        total = 0
        for b in self.blocks:
            x, f = b(x)
            total = total + f
        return total


@torch.no_grad()
def score(net, w):
    net.eval()
    loss = F.l1_loss(net(w[:, :L]), w[:, L:]).item()
    net.train()
    return loss


class Keeper:
    '''Remembers the weights of the epochs so that the best can be restored.'''
    def __init__(self):
        self.rounds = []

    def add(self, epoch, value, net):
        self.rounds.append((value, epoch, copy.deepcopy(net.state_dict())))

    def restore(self, net):
        value, epoch, weights = min(self.rounds, key=lambda r: r[0])
        net.load_state_dict(weights)
        return epoch, value


net = Beats()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
keeper = Keeper()
for epoch in range(18):
    total = 0.0
    for idx in torch.randperm(len(train)).split(250):
        w = train[idx]
        loss = F.l1_loss(net(w[:, :L]), w[:, L:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(w)
    v = score(net, val)
    keeper.add(epoch, v, net)
    if epoch % 6 == 5:
        print(f"epoch {epoch:2d}  train {total / len(train):.4f}  val {v:.4f}")
best, v = keeper.restore(net)
print(f"best epoch {best}  val {v:.4f}  test {score(net, test):.4f}")
"""

CURED = r"""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
torch.set_num_threads(1)

# hourly load: daily and weekly rhythm, drift, noise
L, H = 168, 24
t = torch.arange(4000).float()
series = (torch.sin(2 * math.pi * t / 24) + 0.5 * torch.sin(2 * math.pi * t / 168 + 1)
          + 0.2 * torch.cumsum(torch.randn(4000), 0) / 30 + 0.25 * torch.randn(4000))
series = (series - series[:3000].mean()) / series[:3000].std()
win = series.unfold(0, L + H, 1)
train, val, test = win[:2000], win[2800:3200], win[3400:]


class Block(nn.Module):
    def __init__(self, h=1100):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(L, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.back, self.fore = nn.Linear(h, L), nn.Linear(h, H)

    def forward(self, x):
        z = self.fc(x)
        return x - self.back(z), self.fore(z)


class Beats(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(n))

    def forward(self, x):
        total = 0
        for b in self.blocks:
            x, f = b(x)
            total = total + f
        return total


@torch.no_grad()
def score(net, w):
    net.eval()
    loss = F.l1_loss(net(w[:, :L]), w[:, L:]).item()
    net.train()
    return loss


class Keeper:
    '''Remembers the weights of the epochs so that the best can be restored.'''
    def __init__(self):
        self.best = None

    def add(self, epoch, value, net):
        if self.best is None or value < self.best[0]:
            self.best = None
            self.best = (value, epoch, copy.deepcopy(net.state_dict()))

    def restore(self, net):
        value, epoch, weights = self.best
        net.load_state_dict(weights)
        return epoch, value


net = Beats()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
keeper = Keeper()
for epoch in range(18):
    total = 0.0
    for idx in torch.randperm(len(train)).split(250):
        w = train[idx]
        loss = F.l1_loss(net(w[:, :L]), w[:, L:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(w)
    v = score(net, val)
    keeper.add(epoch, v, net)
    if epoch % 6 == 5:
        print(f"epoch {epoch:2d}  train {total / len(train):.4f}  val {v:.4f}")
best, v = keeper.restore(net)
print(f"best epoch {best}  val {v:.4f}  test {score(net, test):.4f}")
"""
