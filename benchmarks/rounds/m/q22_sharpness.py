NAME = 'Compares the sharpness (largest Hessian eigenvalue, by power iteration) of minima found with small and large batches.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(51)
g = torch.Generator().manual_seed(51)

N, N_FEAT, CLASSES, POWER_ITERS = 1200, 48, 5, 40


def make_data():
    centres = 1.1 * torch.randn(CLASSES, 3, 16, generator=g)
    y = torch.randint(0, CLASSES, (N,), generator=g)
    sub = torch.randint(0, 3, (N,), generator=g)
    x = torch.cat([centres[y, sub], torch.zeros(N, N_FEAT - 16)], 1) + torch.randn(N, N_FEAT, generator=g)
    return x, y


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(N_FEAT, 160), nn.Tanh(), nn.Linear(160, 160), nn.Tanh(),
                         nn.Linear(160, CLASSES))


def train(model, x, y, batch, lr, epochs=12):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(batch):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
    with torch.no_grad():
        return F.cross_entropy(model(x), y).item()


def normalise(vec):
    norm = torch.sqrt(sum((v * v).sum() for v in vec))
    return [v / norm for v in vec]


def hessian_top(model, x, y, k=2):
    params = list(model.parameters())
    loss = F.cross_entropy(model(x), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    found, values = [], []
    for _ in range(k):
        v = normalise([torch.randn(p.shape, generator=g) for p in params])
        for _ in range(POWER_ITERS):
            hv = torch.autograd.grad(grads, params, grad_outputs=v, retain_graph=True)
            value = sum((a * b).sum() for a, b in zip(hv, v)).item()
            hv = list(hv)
            for u, lam in zip(found, values):
                dot = sum((a * b).sum() for a, b in zip(v, u))
                hv = [h - lam * dot * b for h, b in zip(hv, u)]
            v = normalise(hv)
        found.append(v)
        values.append(value)
    return values


x, y = make_data()
x_tr, y_tr, x_te, y_te = x[:900], y[:900], x[900:], y[900:]
for name, batch, lr in (("small batch", 16, 0.01), ("large batch", 300, 0.08)):
    for seed in range(3):
        model = build(seed)
        loss = train(model, x_tr, y_tr, batch, lr)
        with torch.no_grad():
            acc = (model(x_te).argmax(1) == y_te).float().mean().item()
        top = hessian_top(model, x_tr, y_tr)
        print(f"{name}, seed {seed}: loss {loss:.4f}  test acc {acc:.3f}  "
              f"eigenvalues {top[0]:.3f} {top[1]:.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 5.66 s (5.63, 5.69). Peak RSS 328 MB. Change tried: value read (.item()) only in the last iteration: 5.78 s (5.61, 5.94), gain -2.0%, peak RSS 328 MB.'
