NAME = 'Trains a small residual network on synthetic digits and measures its calibration on a held-out set.'
FAULT = 'The held-out pass runs with gradients on and keeps the logits of all batches, so the activations of the whole set stay in memory.'
CURE = 'Run the held-out pass under torch.no_grad().'
KIND = 'memory'
FAULT_LINES = [
    'logits.append(model(x[i:i + bs]))',
    'def collect_logits(model, x, bs=64):',
    'return torch.cat(logits)',
    'ece, acc = calibration_error(collect_logits(model, xte), yte)',
]
FAULT_CALLS = ['collect_logits', 'model', 'forward', 'conv2d', 'Conv2d', 'relu', 'relu_', 'batch_norm', 'BatchNorm2d', 'append']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

strokes = torch.randn(10, 1, 7, 7)
def digits(n):
    y = torch.randint(0, 10, (n,))
    base = F.interpolate(strokes[y], size=28, mode='bilinear', align_corners=False)
    return base + 1.1 * torch.randn(n, 1, 28, 28), y


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b1 = nn.BatchNorm2d(c)
        self.c2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b2 = nn.BatchNorm2d(c)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(x + self.b2(self.c2(h)))


class SmallResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 20, 3, padding=1)
        self.stage1 = Block(20)
        self.down = nn.Conv2d(20, 40, 3, stride=2, padding=1)
        self.stage2 = Block(40)
        self.fc = nn.Linear(40, 10)

    def forward(self, x):
        h = self.stage1(F.relu(self.stem(x)))
        h = self.stage2(F.relu(self.down(h)))
        return self.fc(h.mean((2, 3)))


def collect_logits(model, x, bs=64):
    model.eval()
    logits = []
    for i in range(0, len(x), bs):
        logits.append(model(x[i:i + bs]))
    return torch.cat(logits)


def calibration_error(logits, y, bins=12):
    conf, pred = logits.softmax(1).max(1)
    hit = (pred == y).float()
    which = (conf * bins).long().clamp_max(bins - 1)
    err = 0.0
    for b in range(bins):
        m = which == b
        if m.any():
            err += (m.float().mean() * (hit[m].mean() - conf[m].mean()).abs()).item()
    return err, hit.mean().item()


xtr, ytr = digits(1600)
xte, yte = digits(1500)
model = SmallResNet()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    model.train()
    for idx in torch.randperm(len(xtr)).split(64):
        loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'epoch {epoch}: last batch loss {loss.item():.3f}')

ece, acc = calibration_error(collect_logits(model, xte), yte)
print(f'test accuracy {acc:.3f}  ECE {ece:.4f}')
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

strokes = torch.randn(10, 1, 7, 7)
def digits(n):
    y = torch.randint(0, 10, (n,))
    base = F.interpolate(strokes[y], size=28, mode='bilinear', align_corners=False)
    return base + 1.1 * torch.randn(n, 1, 28, 28), y


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b1 = nn.BatchNorm2d(c)
        self.c2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.b2 = nn.BatchNorm2d(c)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(x + self.b2(self.c2(h)))


class SmallResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 20, 3, padding=1)
        self.stage1 = Block(20)
        self.down = nn.Conv2d(20, 40, 3, stride=2, padding=1)
        self.stage2 = Block(40)
        self.fc = nn.Linear(40, 10)

    def forward(self, x):
        h = self.stage1(F.relu(self.stem(x)))
        h = self.stage2(F.relu(self.down(h)))
        return self.fc(h.mean((2, 3)))


@torch.no_grad()
def collect_logits(model, x, bs=64):
    model.eval()
    logits = []
    for i in range(0, len(x), bs):
        logits.append(model(x[i:i + bs]))
    return torch.cat(logits)


def calibration_error(logits, y, bins=12):
    conf, pred = logits.softmax(1).max(1)
    hit = (pred == y).float()
    which = (conf * bins).long().clamp_max(bins - 1)
    err = 0.0
    for b in range(bins):
        m = which == b
        if m.any():
            err += (m.float().mean() * (hit[m].mean() - conf[m].mean()).abs()).item()
    return err, hit.mean().item()


xtr, ytr = digits(1600)
xte, yte = digits(1500)
model = SmallResNet()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    model.train()
    for idx in torch.randperm(len(xtr)).split(64):
        loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'epoch {epoch}: last batch loss {loss.item():.3f}')

ece, acc = calibration_error(collect_logits(model, xte), yte)
print(f'test accuracy {acc:.3f}  ECE {ece:.4f}')
"""
