NAME = 'Flow matching on a 2-D checkerboard, sampled with an adaptive Dormand-Prince solver'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = "The solver asks for err.item() at each step and loops in Python, but accepting a step and choosing its size need the number; the last stage is reused as the next first stage (FSAL) and the network's matrix products dominate"
GOOD = r"""
import time
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(23)


def checkerboard(n, gen):
    x = torch.rand(n, generator=gen) * 4 - 2
    y0 = torch.rand(n, generator=gen) - torch.randint(0, 2, (n,), generator=gen) * 2
    y = y0 + (torch.floor(x) % 2)
    return torch.stack([x, y], 1)


class Velocity(nn.Module):
    def __init__(self, width=320):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2 + 9, width), nn.GELU(approximate="tanh"),
            nn.Linear(width, width), nn.GELU(approximate="tanh"),
            nn.Linear(width, width), nn.GELU(approximate="tanh"),
            nn.Linear(width, 2))
        self.register_buffer("freq", 2.0 ** torch.arange(4) * torch.pi)

    def forward(self, t, x):
        a = t * self.freq
        feats = torch.cat([t, a.sin(), a.cos()], dim=-1)
        return self.net(torch.cat([x, feats.expand(len(x), -1)], dim=-1))


A = [[1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
C = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


@torch.no_grad()
def dopri5(f, x, rtol=1e-4, atol=1e-4):
    t, h = 0.0, 0.05
    k1 = f(torch.tensor([[t]]), x)
    accepted = rejected = 0
    while t < 1.0 - 1e-9:
        h = min(h, 1.0 - t)
        ks = [k1]
        for a, c in zip(A, C):
            xi = x + h * sum(w * k for w, k in zip(a, ks) if w)
            ks.append(f(torch.tensor([[t + c * h]]), xi))
        # the sixth stage point is the fifth-order solution
        err = h * sum(w * k for w, k in zip(E, ks) if w)
        scale = atol + rtol * torch.maximum(x.abs(), xi.abs())
        ratio = (err / scale).pow(2).mean().sqrt().item()
        if ratio <= 1.0:
            t, x, k1 = t + h, xi, ks[-1]
            accepted += 1
        else:
            rejected += 1
        h *= min(4.0, max(0.2, 0.9 * (ratio + 1e-10) ** -0.2))
    return x, accepted, rejected


gen = torch.Generator().manual_seed(1)
v = Velocity()
opt = torch.optim.Adam(v.parameters(), lr=1e-3, fused=True)
for step in range(1, 61):
    x1 = checkerboard(2048, gen)
    x0 = torch.randn(2048, 2, generator=gen)
    t = torch.rand(2048, 1, generator=gen)
    xt = (1 - t) * x0 + t * x1
    loss = (v(t, xt) - (x1 - x0)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step}  loss {loss.item():.4f}")

for tol in (1e-2, 1e-3, 1e-4):
    z = torch.randn(2000, 2, generator=torch.Generator().manual_seed(3))
    x, acc, rej = dopri5(v, z, tol, tol)
    black = ((torch.floor(x[:, 0]) + torch.floor(x[:, 1])) % 2 == 0).float().mean().item()
    print(f"tol {tol:.0e}: {acc} accepted, {rej} rejected, share on black squares {black:.3f}, std {x.std().item():.3f}")
"""
