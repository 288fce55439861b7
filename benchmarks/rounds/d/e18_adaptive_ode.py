NAME = 'e18_adaptive_ode'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
import torch
from torch import nn

torch.manual_seed(103)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)      # rtol 1e-9 is out of reach in single precision

# Continuous-time population model of 500 coupled rate neurons, adaptive Dormand-Prince
N, BATCH = 500, 64


class RateField(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Linear(N, N)
        nn.init.normal_(self.W.weight, std=1.6 / N ** 0.5)
        self.register_buffer("pulse", 2.0 * (torch.rand(N) < 0.1))
        self.calls = 0

    def forward(self, t, r):
        self.calls += 1
        u = self.W(r)
        if t % 10.0 < 1.0:                      # a stimulus every 10 time constants
            u = u + self.pulse
        return torch.tanh(u) - r


A = [[1 / 5],
     [3 / 40, 9 / 40],
     [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
C = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


@torch.no_grad()
def integrate(f, y, t0, t1, rtol=1e-9, atol=1e-9):
    t, h = t0, 1e-2
    k1 = f(t, y)
    accepted, rejected, trace = 0, 0, []
    while t < t1:
        h = min(h, t1 - t)
        k = [k1]
        for a, c in zip(A, C):
            yi = y
            for coef, kj in zip(a, k):
                if coef:
                    yi = torch.add(yi, kj, alpha=h * coef)
            k.append(f(t + c * h, yi))
        err = torch.zeros_like(y)
        for e, kj in zip(E, k):
            if e:
                err.add_(kj, alpha=h * e)
        tol = atol + rtol * torch.maximum(y.abs(), yi.abs())
        ratio = (err / tol).pow(2).mean().sqrt().item()      # decides about the step
        if ratio <= 1.0:
            t, y, k1 = t + h, yi, k[-1]                       # first same as last
            accepted += 1
            trace.append(y.pow(2).mean())
        else:
            rejected += 1
        h *= min(5.0, max(0.2, 0.9 * ratio ** -0.2))
    return y, torch.stack(trace), accepted, rejected


field = RateField()
y0 = torch.randn(BATCH // 2, N) * 0.5
y0 = torch.cat([y0, y0 + 1e-7 * torch.randn_like(y0)])       # second half: disturbed twins
y, trace, acc, rej = integrate(field, y0, 0.0, 60.0)
a, b = y.chunk(2)
growth = ((a - b).norm(dim=1) / (1e-7 * N ** 0.5)).log() / 60.0
print(f"steps {acc} accepted, {rej} rejected, {field.calls} field evaluations")
print(f"mean activity {trace[-1].item():.6f}, largest growth rate {growth.max().item():.4f}")
'''
