NAME = 'Trains a small digit-like classifier, then measures its accuracy under a projected-gradient attack.'
FAULT = 'The attack needs only the gradient to the input, but loss.backward() also computes the gradients of all weights in every attack step, which nobody uses.'
CURE = 'Take torch.autograd.grad(loss, x) (or freeze the parameters during the attack).'
KIND = 'time'
FAULT_LINES = [
    'loss.backward()',
    'adv = adv.detach() + step * adv.grad.sign()',
    'x_adv = pgd(model, xb, yb)',
]
FAULT_CALLS = [
    'backward',
    'Tensor.backward',
    'run_backward',
    'pgd',
    'mm',
    'addmm',
    'linear',
]
FAULTY = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

proto = F.interpolate(torch.rand(10, 1, 7, 7), size=28, mode="bilinear").flatten(1)


def digits(n):
    y = torch.randint(0, 10, (n,))
    return (proto[y] + 0.35 * torch.randn(n, 784)).clamp(0, 1), y


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 768), nn.ReLU(),
                                 nn.Linear(768, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.net(x)


def train(model, n_steps=25):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(n_steps):
        x, y = digits(128)
        err = F.cross_entropy(model(x), y)
        opt.zero_grad()
        err.backward()
        opt.step()
    print("training loss", round(err.item(), 5))


def pgd(model, x, y, eps=0.06, step=0.01, n_iter=20):
    adv = (x + eps * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
    for _ in range(n_iter):
        adv.requires_grad_(True)
        loss = F.cross_entropy(model(adv), y)
        loss.backward()
        adv = adv.detach() + step * adv.grad.sign()
        adv = torch.min(torch.max(adv, x - eps), x + eps).clamp(0, 1)
    return adv


model = MLP()
train(model)
model.eval()

clean = robust = seen = 0
for _ in range(40):
    xb, yb = digits(100)
    x_adv = pgd(model, xb, yb)
    with torch.no_grad():
        clean += (model(xb).argmax(1) == yb).sum().item()
        robust += (model(x_adv).argmax(1) == yb).sum().item()
    seen += len(yb)
    if seen % 800 == 0:
        print(f"{seen:5d} images  clean {clean / seen:.4f}  robust {robust / seen:.4f}")
"""
CURED = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

proto = F.interpolate(torch.rand(10, 1, 7, 7), size=28, mode="bilinear").flatten(1)


def digits(n):
    y = torch.randint(0, 10, (n,))
    return (proto[y] + 0.35 * torch.randn(n, 784)).clamp(0, 1), y


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 768), nn.ReLU(),
                                 nn.Linear(768, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.net(x)


def train(model, n_steps=25):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(n_steps):
        x, y = digits(128)
        err = F.cross_entropy(model(x), y)
        opt.zero_grad()
        err.backward()
        opt.step()
    print("training loss", round(err.item(), 5))


def pgd(model, x, y, eps=0.06, step=0.01, n_iter=20):
    adv = (x + eps * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
    for _ in range(n_iter):
        adv.requires_grad_(True)
        loss = F.cross_entropy(model(adv), y)
        (grad,) = torch.autograd.grad(loss, adv)
        adv = adv.detach() + step * grad.sign()
        adv = torch.min(torch.max(adv, x - eps), x + eps).clamp(0, 1)
    return adv


model = MLP()
train(model)
model.eval()

clean = robust = seen = 0
for _ in range(40):
    xb, yb = digits(100)
    x_adv = pgd(model, xb, yb)
    with torch.no_grad():
        clean += (model(xb).argmax(1) == yb).sum().item()
        robust += (model(x_adv).argmax(1) == yb).sum().item()
    seen += len(yb)
    if seen % 800 == 0:
        print(f"{seen:5d} images  clean {clean / seen:.4f}  robust {robust / seen:.4f}")
"""
