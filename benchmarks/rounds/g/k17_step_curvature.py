NAME = 'Curvature along the gradient while a small network trains'
FAULT = 'The full Hessian of the loss is built only to multiply it with one vector.'
CURE = 'Use a Hessian-vector product (torch.autograd.functional.hvp or two backward passes).'
KIND = 'time'
FAULT_LINES = [
    'H = hessian(f, w)',
    'Hg = H @ g',
    'from torch.autograd.functional import hessian',
]
FAULT_CALLS = ['torch.autograd.functional.hessian', 'hessian', 'jacobian', 'torch.autograd.grad']
FAULTY = r"""import torch
from torch import nn
from torch.autograd.functional import hessian
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(47)

# two noisy spirals
n = 400
t = torch.rand(n) * 3.2 + 0.4
side = torch.arange(n) % 2
angle = 2.0 * t + 3.1416 * side
X = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], 1) / 3 + 0.03 * torch.randn(n, 2)
y = side.float()

net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 1))
names = [k for k, _ in net.named_parameters()]
shapes = [p.shape for p in net.parameters()]
sizes = [p.numel() for p in net.parameters()]
print("parameters:", sum(sizes))


def unflatten(w):
    return {k: v.view(s) for k, v, s in zip(names, w.split(sizes), shapes)}


def make_loss(xb, yb):
    def f(w):
        logits = functional_call(net, unflatten(w), (xb,)).squeeze(1)
        return nn.functional.binary_cross_entropy_with_logits(logits, yb)
    return f


def curvature(xb, yb):
    f = make_loss(xb, yb)
    w = nn.utils.parameters_to_vector(net.parameters()).detach().requires_grad_()
    (g,) = torch.autograd.grad(f(w), w)
    H = hessian(f, w)
    Hg = H @ g
    rayleigh = (g @ Hg) / (g @ g)
    return g.norm().item(), rayleigh.item()


opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
log = []
for step in range(3000):
    idx = torch.randint(0, n, (128,))
    loss = nn.functional.binary_cross_entropy_with_logits(net(X[idx]).squeeze(1), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        gnorm, curv = curvature(X, y)
        log.append((step + 1, loss.item(), gnorm, curv))
        if (step + 1) % 500 == 0:
            print("step %4d  loss %.4f  |g| %.4f  g'Hg/g'g %.3f" % log[-1])

with torch.no_grad():
    acc = ((net(X).squeeze(1) > 0) == (y > 0.5)).float().mean().item()
curvs = torch.tensor([c for *_, c in log])
print(f"accuracy {acc:.3f}; curvature mean {curvs.mean():.3f} max {curvs.max():.3f}; 2/lr = {2 / 0.2:.1f}")
"""
CURED = r"""import torch
from torch import nn
from torch.autograd.functional import hvp
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(47)

# two noisy spirals
n = 400
t = torch.rand(n) * 3.2 + 0.4
side = torch.arange(n) % 2
angle = 2.0 * t + 3.1416 * side
X = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], 1) / 3 + 0.03 * torch.randn(n, 2)
y = side.float()

net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 1))
names = [k for k, _ in net.named_parameters()]
shapes = [p.shape for p in net.parameters()]
sizes = [p.numel() for p in net.parameters()]
print("parameters:", sum(sizes))


def unflatten(w):
    return {k: v.view(s) for k, v, s in zip(names, w.split(sizes), shapes)}


def make_loss(xb, yb):
    def f(w):
        logits = functional_call(net, unflatten(w), (xb,)).squeeze(1)
        return nn.functional.binary_cross_entropy_with_logits(logits, yb)
    return f


def curvature(xb, yb):
    f = make_loss(xb, yb)
    w = nn.utils.parameters_to_vector(net.parameters()).detach().requires_grad_()
    (g,) = torch.autograd.grad(f(w), w)
    _, Hg = hvp(f, w, g)
    rayleigh = (g @ Hg) / (g @ g)
    return g.norm().item(), rayleigh.item()


opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
log = []
for step in range(3000):
    idx = torch.randint(0, n, (128,))
    loss = nn.functional.binary_cross_entropy_with_logits(net(X[idx]).squeeze(1), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        gnorm, curv = curvature(X, y)
        log.append((step + 1, loss.item(), gnorm, curv))
        if (step + 1) % 500 == 0:
            print("step %4d  loss %.4f  |g| %.4f  g'Hg/g'g %.3f" % log[-1])

with torch.no_grad():
    acc = ((net(X).squeeze(1) > 0) == (y > 0.5)).float().mean().item()
curvs = torch.tensor([c for *_, c in log])
print(f"accuracy {acc:.3f}; curvature mean {curvs.mean():.3f} max {curvs.max():.3f}; 2/lr = {2 / 0.2:.1f}")
"""
