NAME = 'Trains a steel defect classifier with stochastic weight averaging.'
FAULT = 'The batch-norm statistics of the averaged model are recomputed over the training set after every epoch although that model is evaluated only once at the end.'
CURE = 'Call update_bn once after the last epoch, before the averaged model is evaluated.'
KIND = 'time'
FAULT_LINES = ['update_bn(bn_dl, self.swa)']
FAULT_CALLS = ['update_bn', 'conv2d', 'batch_norm']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(9)


def defects(n, seed):
    '''Grey 32x32 patches of rolled steel: scratch, spot, waves or clean.'''
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    x = rng.normal(0, 0.6, (n, 1, 32, 32)).astype(np.float32)
    yy, xx = np.mgrid[:32, :32]
    for i, k in enumerate(kind):
        a, b = rng.integers(6, 26, 2)
        if k == 0:
            x[i, 0] += 1.2 * (np.abs((xx - a) * 0.7 + (yy - b) * 0.4) < 1.2)
        elif k == 1:
            x[i, 0] += 1.2 * ((xx - a) ** 2 + (yy - b) ** 2 < 16)
        elif k == 2:
            x[i, 0] += 0.5 * np.sin(yy / 2 + a)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(kind))


def conv(a, b, stride=1):
    return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class Fitter:
    def __init__(self, net, epochs, swa_from, lr=0.05):
        self.net, self.epochs, self.swa_from = net, epochs, swa_from
        self.swa = AveragedModel(net)
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
        self.log = []

    def train_epoch(self, dl):
        self.net.train()
        total = 0.0
        for x, y in dl:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(dl)

    @torch.no_grad()
    def accuracy(self, model, dl):
        model.eval()
        return float(np.mean([(model(x).argmax(1) == y).float().mean().item() for x, y in dl]))

    def fit(self, train_dl, bn_dl, valid_dl):
        for epoch in range(self.epochs):
            row = {"epoch": epoch, "loss": self.train_epoch(train_dl)}
            if epoch >= self.swa_from:
                self.swa.update_parameters(self.net)
                update_bn(bn_dl, self.swa)
            row["valid"] = self.accuracy(self.net, valid_dl)
            self.log.append(row)
        return self.accuracy(self.swa, valid_dl)


train, valid = defects(1536, 0), defects(256, 1)
net = nn.Sequential(conv(1, 16), conv(16, 32, 2), conv(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 4))
fitter = Fitter(net, epochs=10, swa_from=1)
final = fitter.fit(DataLoader(train, 64, shuffle=True), DataLoader(train, 128, generator=torch.Generator()), DataLoader(valid, 128))
for row in fitter.log[::3]:
    print({k: round(v, 2) for k, v in row.items()})
print(f"averaged model {final:.2f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(9)


def defects(n, seed):
    '''Grey 32x32 patches of rolled steel: scratch, spot, waves or clean.'''
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    x = rng.normal(0, 0.6, (n, 1, 32, 32)).astype(np.float32)
    yy, xx = np.mgrid[:32, :32]
    for i, k in enumerate(kind):
        a, b = rng.integers(6, 26, 2)
        if k == 0:
            x[i, 0] += 1.2 * (np.abs((xx - a) * 0.7 + (yy - b) * 0.4) < 1.2)
        elif k == 1:
            x[i, 0] += 1.2 * ((xx - a) ** 2 + (yy - b) ** 2 < 16)
        elif k == 2:
            x[i, 0] += 0.5 * np.sin(yy / 2 + a)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(kind))


def conv(a, b, stride=1):
    return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class Fitter:
    def __init__(self, net, epochs, swa_from, lr=0.05):
        self.net, self.epochs, self.swa_from = net, epochs, swa_from
        self.swa = AveragedModel(net)
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
        self.log = []

    def train_epoch(self, dl):
        self.net.train()
        total = 0.0
        for x, y in dl:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(dl)

    @torch.no_grad()
    def accuracy(self, model, dl):
        model.eval()
        return float(np.mean([(model(x).argmax(1) == y).float().mean().item() for x, y in dl]))

    def fit(self, train_dl, bn_dl, valid_dl):
        for epoch in range(self.epochs):
            row = {"epoch": epoch, "loss": self.train_epoch(train_dl)}
            if epoch >= self.swa_from:
                self.swa.update_parameters(self.net)
            row["valid"] = self.accuracy(self.net, valid_dl)
            self.log.append(row)
        update_bn(bn_dl, self.swa)
        return self.accuracy(self.swa, valid_dl)


train, valid = defects(1536, 0), defects(256, 1)
net = nn.Sequential(conv(1, 16), conv(16, 32, 2), conv(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 4))
fitter = Fitter(net, epochs=10, swa_from=1)
final = fitter.fit(DataLoader(train, 64, shuffle=True), DataLoader(train, 128, generator=torch.Generator()), DataLoader(valid, 128))
for row in fitter.log[::3]:
    print({k: round(v, 2) for k, v in row.items()})
print(f"averaged model {final:.2f}")
"""
