NAME = 'Trains a digit-like image classifier and measures its robust accuracy under PGD attacks of several strengths.'
FAULT = 'The attack calls loss.backward(), which also computes and accumulates the gradients of all model weights at every attack step, although only the gradient of the input is used.'
CURE = 'Ask autograd for the input gradient alone with torch.autograd.grad.'
KIND = 'time'
FAULT_LINES = ['F.cross_entropy(model(x_adv), y).backward()', 'grad = x_adv.grad', 'x_adv = pgd(model, x, y, eps, steps)']
FAULT_CALLS = ['backward', 'pgd', 'addmm', 'mm', 'AddmmBackward0', 'AccumulateGrad', 'add_']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

SIDE, CLASSES = 28, 10
prototypes = F.interpolate(torch.rand(CLASSES, 1, 7, 7), size=SIDE, mode="bilinear").flatten(1)


def make_images(n):
    y = torch.randint(0, CLASSES, (n,))
    x = prototypes[y] * (0.6 + 0.4 * torch.rand(n, 1)) + 0.25 * torch.randn(n, SIDE * SIDE)
    return x.clamp(0, 1), y


x_train, y_train = make_images(6000)
x_test, y_test = make_images(448)

model = nn.Sequential(
    nn.Linear(SIDE * SIDE, 1200), nn.ReLU(),
    nn.Linear(1200, 1200), nn.ReLU(),
    nn.Linear(1200, CLASSES))


def train(model, epochs, batch=128, lr=0.05):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        perm = torch.randperm(len(x_train))
        total = 0.0
        for idx in perm.split(batch):
            opt.zero_grad()
            loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {total / len(x_train):.3f}")


def pgd(model, x, y, eps, steps):
    alpha = 2.5 * eps / steps
    x_adv = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    for _ in range(steps):
        x_adv = x_adv.detach().requires_grad_(True)
        F.cross_entropy(model(x_adv), y).backward()
        grad = x_adv.grad
        with torch.no_grad():
            x_adv = x_adv + alpha * grad.sign()
            x_adv = torch.min(torch.max(x_adv, x - eps), x + eps).clamp(0, 1)
    return x_adv.detach()


def robust_accuracy(model, eps, steps=25, batch=32):
    model.eval()
    hits, moved = 0, 0.0
    for s in range(0, len(x_test), batch):
        x, y = x_test[s:s + batch], y_test[s:s + batch]
        x_adv = pgd(model, x, y, eps, steps)
        with torch.no_grad():
            hits += (model(x_adv).argmax(1) == y).sum().item()
        moved += (x_adv - x).abs().mean().item() * len(x)
    return hits / len(x_test), moved / len(x_test)


train(model, epochs=1)
with torch.no_grad():
    clean = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"clean accuracy {clean:.3f}")
for eps in (0.01, 0.02, 0.04, 0.08):
    acc, moved = robust_accuracy(model, eps)
    print(f"eps {eps:.2f}: robust accuracy {acc:.3f}, mean change per pixel {moved:.4f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

SIDE, CLASSES = 28, 10
prototypes = F.interpolate(torch.rand(CLASSES, 1, 7, 7), size=SIDE, mode="bilinear").flatten(1)


def make_images(n):
    y = torch.randint(0, CLASSES, (n,))
    x = prototypes[y] * (0.6 + 0.4 * torch.rand(n, 1)) + 0.25 * torch.randn(n, SIDE * SIDE)
    return x.clamp(0, 1), y


x_train, y_train = make_images(6000)
x_test, y_test = make_images(448)

model = nn.Sequential(
    nn.Linear(SIDE * SIDE, 1200), nn.ReLU(),
    nn.Linear(1200, 1200), nn.ReLU(),
    nn.Linear(1200, CLASSES))


def train(model, epochs, batch=128, lr=0.05):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        perm = torch.randperm(len(x_train))
        total = 0.0
        for idx in perm.split(batch):
            opt.zero_grad()
            loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}: loss {total / len(x_train):.3f}")


def pgd(model, x, y, eps, steps):
    alpha = 2.5 * eps / steps
    x_adv = (x + torch.empty_like(x).uniform_(-eps, eps)).clamp(0, 1)
    for _ in range(steps):
        x_adv = x_adv.detach().requires_grad_(True)
        loss = F.cross_entropy(model(x_adv), y)
        grad, = torch.autograd.grad(loss, x_adv)
        with torch.no_grad():
            x_adv = x_adv + alpha * grad.sign()
            x_adv = torch.min(torch.max(x_adv, x - eps), x + eps).clamp(0, 1)
    return x_adv.detach()


def robust_accuracy(model, eps, steps=25, batch=32):
    model.eval()
    hits, moved = 0, 0.0
    for s in range(0, len(x_test), batch):
        x, y = x_test[s:s + batch], y_test[s:s + batch]
        x_adv = pgd(model, x, y, eps, steps)
        with torch.no_grad():
            hits += (model(x_adv).argmax(1) == y).sum().item()
        moved += (x_adv - x).abs().mean().item() * len(x)
    return hits / len(x_test), moved / len(x_test)


train(model, epochs=1)
with torch.no_grad():
    clean = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"clean accuracy {clean:.3f}")
for eps in (0.01, 0.02, 0.04, 0.08):
    acc, moved = robust_accuracy(model, eps)
    print(f"eps {eps:.2f}: robust accuracy {acc:.3f}, mean change per pixel {moved:.4f}")
'''
