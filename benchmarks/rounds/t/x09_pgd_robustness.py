NAME = 'Trains a digit-like MLP and then measures its robust accuracy under PGD attacks of several strengths.'
FAULT = 'The attack calls loss.backward() on a model whose parameters still require gradients, so each attack step also computes all weight gradients, which nobody uses.'
CURE = 'Ask only for the gradient of the input with torch.autograd.grad.'
KIND = 'time'
FAULT_LINES = ['objective.backward()', 'step = alpha * adv.grad.sign()']
FAULT_CALLS = ['backward', 'pgd', 'addmm', 'mm']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

CLASSES, SIDE = 10, 28
prototypes = F.interpolate(torch.rand(CLASSES, 1, 7, 7), size=SIDE, mode="bilinear")


def make_digits(n):
    y = torch.randint(0, CLASSES, (n,))
    shift = torch.randint(-3, 4, (n, 2)).tolist()
    x = torch.stack([prototypes[c].roll(s, (1, 2)) for c, s in zip(y.tolist(), shift)])
    return (x + 0.15 * torch.randn_like(x)).clamp(0, 1), y


class DigitMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(SIDE * SIDE, 1024), nn.ReLU(),
            nn.Linear(1024, 1024), nn.ReLU(),
        )
        self.head = nn.Linear(1024, CLASSES)

    def forward(self, x):
        return self.head(self.body(x.flatten(1)))


def train(model, x, y, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        running = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {running / len(x):.4f}")


def pgd(model, x, y, eps, steps):
    alpha = 2.5 * eps / steps
    adv = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    for _ in range(steps):
        adv = adv.detach().requires_grad_()
        objective = F.cross_entropy(model(adv), y, reduction="sum")
        objective.backward()
        step = alpha * adv.grad.sign()
        with torch.no_grad():
            adv = (x + (adv + step - x).clamp(-eps, eps)).clamp(0, 1)
    return adv.detach()


def robust_accuracy(model, x, y, eps, steps=26):
    hits = 0
    for xb, yb in zip(x.split(24), y.split(24)):
        adv = pgd(model, xb, yb, eps, steps)
        with torch.no_grad():
            hits += (model(adv).argmax(1) == yb).sum().item()
    return hits / len(x)


model = DigitMLP()
train(model, *make_digits(1200), epochs=2)
model.eval()
x_test, y_test = make_digits(768)
with torch.no_grad():
    print(f"clean accuracy {(model(x_test).argmax(1) == y_test).float().mean().item():.3f}")
for eps in (0.03, 0.08, 0.15):
    print(f"eps {eps}: robust accuracy {robust_accuracy(model, x_test, y_test, eps):.3f}")
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

CLASSES, SIDE = 10, 28
prototypes = F.interpolate(torch.rand(CLASSES, 1, 7, 7), size=SIDE, mode="bilinear")


def make_digits(n):
    y = torch.randint(0, CLASSES, (n,))
    shift = torch.randint(-3, 4, (n, 2)).tolist()
    x = torch.stack([prototypes[c].roll(s, (1, 2)) for c, s in zip(y.tolist(), shift)])
    return (x + 0.15 * torch.randn_like(x)).clamp(0, 1), y


class DigitMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(SIDE * SIDE, 1024), nn.ReLU(),
            nn.Linear(1024, 1024), nn.ReLU(),
        )
        self.head = nn.Linear(1024, CLASSES)

    def forward(self, x):
        return self.head(self.body(x.flatten(1)))


def train(model, x, y, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        running = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {running / len(x):.4f}")


def pgd(model, x, y, eps, steps):
    alpha = 2.5 * eps / steps
    adv = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    for _ in range(steps):
        adv = adv.detach().requires_grad_()
        objective = F.cross_entropy(model(adv), y, reduction="sum")
        gradient, = torch.autograd.grad(objective, adv)
        step = alpha * gradient.sign()
        with torch.no_grad():
            adv = (x + (adv + step - x).clamp(-eps, eps)).clamp(0, 1)
    return adv.detach()


def robust_accuracy(model, x, y, eps, steps=26):
    hits = 0
    for xb, yb in zip(x.split(24), y.split(24)):
        adv = pgd(model, xb, yb, eps, steps)
        with torch.no_grad():
            hits += (model(adv).argmax(1) == yb).sum().item()
    return hits / len(x)


model = DigitMLP()
train(model, *make_digits(1200), epochs=2)
model.eval()
x_test, y_test = make_digits(768)
with torch.no_grad():
    print(f"clean accuracy {(model(x_test).argmax(1) == y_test).float().mean().item():.3f}")
for eps in (0.03, 0.08, 0.15):
    print(f"eps {eps}: robust accuracy {robust_accuracy(model, x_test, y_test, eps):.3f}")
"""
