NAME = 'Trains a small 1D CNN on synthetic ECG beats and measures its accuracy under PGD perturbations of several strengths.'
FAULT = 'The attack calls loss.backward(), so each PGD step also computes the gradients of all the weights, which nobody uses.'
CURE = 'Ask for the gradient of the input only: torch.autograd.grad(loss, x_adv).'
KIND = 'time'
FAULT_LINES = ['loss.backward()', 'step = x_adv.grad.sign() * alpha', 'model.zero_grad()']
FAULT_CALLS = ['backward', 'convolution_backward', 'zero_grad']

FAULTY = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

LENGTH, CLASSES = 128, 4


def make_beats(n):
    t = torch.linspace(0, 1, LENGTH)
    y = torch.randint(0, CLASSES, (n,))
    centre = 0.45 + 0.05 * torch.randn(n, 1)
    width = (0.02 + 0.012 * y.float())[:, None]
    qrs = torch.exp(-((t - centre) / width) ** 2)
    twave = 0.3 * torch.exp(-((t - centre - 0.25) / 0.06) ** 2)
    drift = 0.2 * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))
    return (qrs + twave + drift + 0.08 * torch.randn(n, LENGTH)).unsqueeze(1), y


def conv(c_in, c_out, stride):
    return nn.Sequential(
        nn.Conv1d(c_in, c_out, 7, stride=stride, padding=3),
        nn.BatchNorm1d(c_out),
        nn.ReLU(),
    )


model = nn.Sequential(
    conv(1, 32, 2), conv(32, 64, 2),
    nn.Flatten(), nn.Linear(64 * 32, 512), nn.ReLU(), nn.Linear(512, CLASSES),
)

x_train, y_train = make_beats(1600)
x_test, y_test = make_beats(640)

# ---- training -----------------------------------------------------------
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    losses = []
    for idx in torch.randperm(len(x_train)).split(64):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}  loss {sum(losses) / len(losses):.4f}")


# ---- robustness ---------------------------------------------------------
def pgd(model, x, y, eps, n_steps=20):
    alpha = 2.5 * eps / n_steps
    x_adv = x + torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(n_steps):
        x_adv.requires_grad_(True)
        loss = F.cross_entropy(model(x_adv), y)
        loss.backward()
        step = x_adv.grad.sign() * alpha
        model.zero_grad()
        x_adv = x_adv.detach() + step
        x_adv = x + (x_adv - x).clamp(-eps, eps)
    return x_adv


def robust_accuracy(model, x, y, eps, batch_size=16):
    correct = 0
    for xb, yb in zip(x.split(batch_size), y.split(batch_size)):
        xa = pgd(model, xb, yb, eps)
        with torch.no_grad():
            correct += (model(xa).argmax(1) == yb).sum().item()
    return correct / len(x)


model.eval()
with torch.no_grad():
    clean = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"clean accuracy {clean:.3f}")
for eps in (0.01, 0.02, 0.05, 0.1):
    print(f"eps {eps:.2f}  robust accuracy {robust_accuracy(model, x_test, y_test, eps):.3f}")
'''

CURED = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

LENGTH, CLASSES = 128, 4


def make_beats(n):
    t = torch.linspace(0, 1, LENGTH)
    y = torch.randint(0, CLASSES, (n,))
    centre = 0.45 + 0.05 * torch.randn(n, 1)
    width = (0.02 + 0.012 * y.float())[:, None]
    qrs = torch.exp(-((t - centre) / width) ** 2)
    twave = 0.3 * torch.exp(-((t - centre - 0.25) / 0.06) ** 2)
    drift = 0.2 * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))
    return (qrs + twave + drift + 0.08 * torch.randn(n, LENGTH)).unsqueeze(1), y


def conv(c_in, c_out, stride):
    return nn.Sequential(
        nn.Conv1d(c_in, c_out, 7, stride=stride, padding=3),
        nn.BatchNorm1d(c_out),
        nn.ReLU(),
    )


model = nn.Sequential(
    conv(1, 32, 2), conv(32, 64, 2),
    nn.Flatten(), nn.Linear(64 * 32, 512), nn.ReLU(), nn.Linear(512, CLASSES),
)

x_train, y_train = make_beats(1600)
x_test, y_test = make_beats(640)

# ---- training -----------------------------------------------------------
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    losses = []
    for idx in torch.randperm(len(x_train)).split(64):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}  loss {sum(losses) / len(losses):.4f}")


# ---- robustness ---------------------------------------------------------
def pgd(model, x, y, eps, n_steps=20):
    alpha = 2.5 * eps / n_steps
    x_adv = x + torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(n_steps):
        x_adv.requires_grad_(True)
        loss = F.cross_entropy(model(x_adv), y)
        grad, = torch.autograd.grad(loss, x_adv)
        step = grad.sign() * alpha
        x_adv = x_adv.detach() + step
        x_adv = x + (x_adv - x).clamp(-eps, eps)
    return x_adv


def robust_accuracy(model, x, y, eps, batch_size=16):
    correct = 0
    for xb, yb in zip(x.split(batch_size), y.split(batch_size)):
        xa = pgd(model, xb, yb, eps)
        with torch.no_grad():
            correct += (model(xa).argmax(1) == yb).sum().item()
    return correct / len(x)


model.eval()
with torch.no_grad():
    clean = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"clean accuracy {clean:.3f}")
for eps in (0.01, 0.02, 0.05, 0.1):
    print(f"eps {eps:.2f}  robust accuracy {robust_accuracy(model, x_test, y_test, eps):.3f}")
'''
