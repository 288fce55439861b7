NAME = 'g05_private_digits'
FAULT = 'Per-example gradients for clipping are taken in a Python loop, one forward and backward pass for each example.'
CURE = 'Compute all per-example gradients of the batch at once with torch.func.vmap(grad(...)).'
KIND = 'time'
FAULT_LINES = [
    '    for xi, yi in zip(xb, yb):',
    '        gi = torch.autograd.grad(li, list(net.parameters()))',
    '        li = F.cross_entropy(net(xi[None]), yi[None])',
]
FAULT_CALLS = ['torch.autograd.grad', 'torch.nn.functional.cross_entropy', 'torch.nn.Module.__call__', 'noisy_step']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(0)

X, y = load_digits(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X / 8.0 - 1.0, y, test_size=0.25, random_state=0, stratify=y)
Xtr, Xte = (torch.tensor(v, dtype=torch.float32) for v in (Xtr, Xte))
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

net = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),
    nn.Conv2d(1, 16, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
    nn.Conv2d(16, 24, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
    nn.Flatten(), nn.Linear(96, 10),
)
CLIP, SIGMA, LR, BATCH = 1.0, 0.6, 0.4, 96


def noisy_step(xb, yb):
    """one DP-SGD step: clip every example's gradient, sum, add noise"""
    total = [torch.zeros_like(p) for p in net.parameters()]
    norms = []
    for xi, yi in zip(xb, yb):
        li = F.cross_entropy(net(xi[None]), yi[None])
        gi = torch.autograd.grad(li, list(net.parameters()))
        n = torch.sqrt(sum(g.pow(2).sum() for g in gi))
        scale = (CLIP / (n + 1e-6)).clamp(max=1.0)
        for t, g in zip(total, gi):
            t.add_(g * scale)
        norms.append(n)
    norms = torch.stack(norms)
    with torch.no_grad():
        for p, t in zip(net.parameters(), total):
            t += SIGMA * CLIP * torch.randn_like(t)
            p -= LR * t / len(xb)
    return norms


for epoch in range(14):
    med = []
    for b in torch.randperm(len(Xtr)).split(BATCH):
        norms = noisy_step(Xtr[b], ytr[b])
        med.append(norms.median().item())
    with torch.no_grad():
        acc = (net(Xte).argmax(1) == yte).float().mean().item()
    print(f"epoch {epoch:2d}: test acc {acc:.3f}, median grad norm {sum(med) / len(med):.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(0)

X, y = load_digits(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X / 8.0 - 1.0, y, test_size=0.25, random_state=0, stratify=y)
Xtr, Xte = (torch.tensor(v, dtype=torch.float32) for v in (Xtr, Xte))
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

net = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),
    nn.Conv2d(1, 16, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
    nn.Conv2d(16, 24, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2),
    nn.Flatten(), nn.Linear(96, 10),
)
CLIP, SIGMA, LR, BATCH = 1.0, 0.6, 0.4, 96


def one_loss(params, xi, yi):
    return F.cross_entropy(functional_call(net, params, (xi[None],)), yi[None])


def noisy_step(xb, yb):
    """one DP-SGD step: clip every example's gradient, sum, add noise"""
    params = {k: p.detach() for k, p in net.named_parameters()}
    per_ex = vmap(grad(one_loss), in_dims=(None, 0, 0))(params, xb, yb)
    per_ex = [g.flatten(1) for g in per_ex.values()]
    norms = torch.sqrt(sum(g.pow(2).sum(1) for g in per_ex))
    scale = (CLIP / (norms + 1e-6)).clamp(max=1.0)
    total = [(scale @ g).view_as(p) for g, p in zip(per_ex, net.parameters())]
    with torch.no_grad():
        for p, t in zip(net.parameters(), total):
            t += SIGMA * CLIP * torch.randn_like(t)
            p -= LR * t / len(xb)
    return norms


for epoch in range(14):
    med = []
    for b in torch.randperm(len(Xtr)).split(BATCH):
        norms = noisy_step(Xtr[b], ytr[b])
        med.append(norms.median().item())
    with torch.no_grad():
        acc = (net(Xte).argmax(1) == yte).float().mean().item()
    print(f"epoch {epoch:2d}: test acc {acc:.3f}, median grad norm {sum(med) / len(med):.3f}")
'''
