NAME = 'Kriging emulator of a deterministic simulator: scans the length scale by log evidence, then predicts.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'Everything is in float64 and a fresh Cholesky factor is computed for every length scale; with a nugget of 1e-9 the Gram matrix is so ill-conditioned that float32 Cholesky fails, and each length scale is another matrix, so nothing can be reused.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
# Kriging emulator of an (expensive) chemistry code: evidence over length scales
import math
import numpy as np
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(11)
torch.manual_seed(11)
torch.set_default_dtype(torch.float64)

N_RUNS = 1900
NUGGET = 1e-9


def simulator(x):
    # smooth deterministic response of the reactor model
    a = torch.sin(2.2 * x[:, 0]) * torch.exp(-x[:, 1])
    b = 0.6 * torch.cos(3.0 * x[:, 2] + x[:, 0])
    return a + b + 0.3 * x[:, 1] * x[:, 2]


def latin_hypercube(n, d):
    cols = [(rng.permutation(n) + rng.random(n)) / n for _ in range(d)]
    return torch.from_numpy(np.stack(cols, axis=1))


X = latin_hypercube(N_RUNS, 3)
y = simulator(X)
X_new = latin_hypercube(600, 3)
y_new = simulator(X_new)

y_mean = y.mean()
y_std = y.std()
t = ((y - y_mean) / y_std).unsqueeze(1)

sq = torch.cdist(X, X, compute_mode='donot_use_mm_for_euclid_dist').square()
sq_new = torch.cdist(X_new, X, compute_mode='donot_use_mm_for_euclid_dist').square()


def gram(sq_dist, ell):
    return torch.exp(sq_dist * (-0.5 / ell ** 2))


def log_evidence(ell):
    K = gram(sq, ell)
    K.diagonal().add_(NUGGET)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(t, L)
    fit = (t * alpha).sum()
    s2 = fit / N_RUNS
    logdet = 2 * L.diagonal().log().sum()
    ll = -0.5 * (N_RUNS * torch.log(s2) + logdet + N_RUNS * (1 + math.log(2 * math.pi)))
    return ll.item(), s2, L, alpha


def predict(ell, alpha):
    return gram(sq_new, ell) @ alpha


# ---- coarse scan ---------------------------------------------------------
history = []
for ell in torch.linspace(0.15, 1.5, 90).tolist():
    ll, s2, L, alpha = log_evidence(ell)
    history.append((ll, ell))
best_ll, best_ell = max(history)

# ---- golden section around the best one ----------------------------------
phi = (math.sqrt(5) - 1) / 2
lo, hi = best_ell - 0.03, best_ell + 0.03
c, d = hi - phi * (hi - lo), lo + phi * (hi - lo)
fc, fd = log_evidence(c)[0], log_evidence(d)[0]
for _ in range(18):
    if fc > fd:
        hi, d, fd = d, c, fc
        c = hi - phi * (hi - lo)
        fc = log_evidence(c)[0]
    else:
        lo, c, fc = c, d, fd
        d = lo + phi * (hi - lo)
        fd = log_evidence(d)[0]

ell = 0.5 * (lo + hi)
ll, s2, L, alpha = log_evidence(ell)
pred = predict(ell, alpha).squeeze(1) * y_std + y_mean
rmse = (pred - y_new).square().mean().sqrt().item()

# leave-one-out residuals from the factor
Kinv_diag = torch.cholesky_inverse(L).diagonal()
loo = (alpha.squeeze(1) / Kinv_diag) * y_std

print(f'length scale {ell:.4f}  log evidence {ll:.2f}')
print(f'test rmse {rmse:.2e}   leave-one-out rmse {loo.square().mean().sqrt().item():.2e}')
"""
