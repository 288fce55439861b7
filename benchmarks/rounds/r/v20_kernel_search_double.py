NAME = 'Searches anisotropic length scales of a nearly noise-free Gaussian-process emulator of a simulator by random search on the evidence.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The kernel matrices have condition numbers far beyond single precision, so double precision is needed for the factorisation to succeed, and each candidate has a kernel matrix of its own.'

GOOD = r'''
import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
rs = np.random.default_rng(81)

N, N_NEW, DIM, CANDIDATES = 2000, 800, 4, 72
JITTER = 1e-9


def simulator(x):
    return (torch.sin(2.5 * x[:, 0]) * torch.cos(1.5 * x[:, 1])
            + 0.5 * torch.exp(-x[:, 2] ** 2) + 0.1 * x[:, 3] * x[:, 0])


def design(n):
    cells = np.stack([rs.permutation(n) for _ in range(DIM)], axis=1)
    return torch.from_numpy(2.0 * (cells + rs.random((n, DIM))) / n - 1.0)


def exponent_factors(x, scales):
    z = x / scales
    half = -0.5 * (z ** 2).sum(1, keepdim=True)
    one = torch.ones_like(half)
    return torch.cat([z, half, one], dim=1), torch.cat([z, one, half], dim=1)


def kernel(a, b, scales):
    left, _ = exponent_factors(a, scales)
    _, right = exponent_factors(b, scales)
    return (left @ right.T).exp_()


def evidence(x, y, scales):
    K = kernel(x, x, scales)
    K.diagonal().add_(JITTER)
    L = torch.linalg.cholesky(K)
    w = torch.linalg.solve_triangular(L, y[:, None], upper=False)
    variance = (w ** 2).mean()
    log_det = 2.0 * L.diagonal().log().sum()
    value = -0.5 * (len(y) * torch.log(2 * math.pi * variance) + log_det + len(y))
    return value.item(), L, w


x, x_new = design(N), design(N_NEW)
y, y_new = simulator(x), simulator(x_new)
offset = y.mean()
y = y - offset

best = {"value": -math.inf}
tried = []
for k in range(CANDIDATES):
    if k < CANDIDATES // 2:
        scales = torch.from_numpy(np.exp(rs.uniform(math.log(0.4), math.log(3.0), DIM)))
    else:
        scales = best["scales"] * torch.from_numpy(np.exp(rs.normal(0, 0.15, DIM)))
    value, L, w = evidence(x, y, scales)
    tried.append(value)
    if value > best["value"]:
        best = {"value": value, "scales": scales, "L": L, "w": w, "at": k}
        print(f"candidate {k}: evidence {value:.1f}, smallest pivot {L.diagonal().min().item():.1e}")

print(f"best evidence {best['value']:.1f} found at candidate {best['at']}, median of all {np.median(tried):.1f}")
print("length scales", [round(v, 2) for v in best["scales"].tolist()])

coef = torch.linalg.solve_triangular(best["L"].T, best["w"], upper=True)
pred = (kernel(x_new, x, best["scales"]) @ coef)[:, 0] + offset
error = (pred - y_new).abs()
print(f"emulator error: mean {error.mean().item():.1e}, worst {error.max().item():.1e}")
'''
