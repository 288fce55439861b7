NAME = 'Robust accuracy under a PGD attack'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'Evaluation without torch.no_grad() and with ten forward and backward passes per batch, but the attack needs the gradient with respect to the input in every step.'
GOOD = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)


def stripes(n, size=20):
    # horizontal, vertical, diagonal, checker
    label = torch.randint(0, 4, (n,))
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    ph = torch.rand(n, 1, 1) * 6.28
    w = 0.9 + 0.4 * torch.rand(n, 1, 1)
    pats = torch.stack([
        torch.sin(w * yy + ph), torch.sin(w * xx + ph),
        torch.sin(0.7 * w * (xx + yy) + ph), torch.sin(w * xx + ph) * torch.sin(w * yy + ph),
    ], 1)
    img = pats[torch.arange(n), label]
    return (0.5 + 0.25 * img + 0.1 * torch.randn(n, size, size)).clamp(0, 1).unsqueeze(1), label


x_tr, y_tr = stripes(2400)
x_te, y_te = stripes(600)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 25, 64), nn.ReLU(), nn.Linear(64, 4),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(3):
    for idx in torch.randperm(len(x_tr)).split(64):
        loss = F.cross_entropy(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))

net.eval()
net.requires_grad_(False)


def pgd(x, y, eps, steps=10):
    delta = torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(net(x + delta), y)
        (g,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + 0.25 * eps * g.sign()).clamp(-eps, eps)
        delta = (x + delta).clamp(0, 1) - x
    return x + delta


def evaluate(eps):
    clean = robust = 0
    for xb, yb in zip(x_te.split(120), y_te.split(120)):
        adv = pgd(xb, yb, eps)
        clean += (net(xb).argmax(1) == yb).sum().item()
        robust += (net(adv).argmax(1) == yb).sum().item()
    return clean / len(x_te), robust / len(x_te)


for eps in (0.02, 0.04, 0.08, 0.12, 0.16):
    clean, robust = evaluate(eps)
    print(f"eps {eps:.2f}: clean {clean:.3f}  PGD-10 {robust:.3f}")
"""
