NAME = 'Learns Gaussian-process hyperparameters of a smooth spectroscopy signal by maximising the marginal likelihood in float64.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'float64 and a Cholesky factorisation in every step look wasteful, but the squared-exponential kernel with tiny noise is so ill-conditioned that float32 fails, and the kernel changes with every hyperparameter step.'
GOOD = r"""
import math
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(6)

# --- smooth absorption spectrum, very low detector noise
n = 520
wave = torch.linspace(0, 1, n, dtype=torch.float64)
clean = sum(a * torch.exp(-0.5 * ((wave - m) / w) ** 2)
            for a, m, w in [(1.0, .2, .06), (.7, .48, .09), (1.2, .75, .07), (.3, .9, .05)])
signal = clean + 2e-4 * torch.randn(n, generator=gen, dtype=torch.float64)
train = torch.ones(n, dtype=torch.bool)
train[::5] = False
x, y = wave[train], signal[train]
xs, ys = wave[~train], clean[~train]
y_mean = y.mean()


def rbf(a, b, log_len, log_amp):
    r = (a[:, None] - b[None, :]) / log_len.exp()
    return (2 * log_amp).exp() * torch.exp(-0.5 * r * r)


def neg_log_marginal(log_len, log_amp, log_noise):
    K = rbf(x, x, log_len, log_amp)
    K = K + (2 * log_noise).exp() * torch.eye(len(x), dtype=x.dtype)
    L = torch.linalg.cholesky(K)
    r = (y - y_mean)[:, None]
    alpha = torch.cholesky_solve(r, L)
    return (0.5 * (r * alpha).sum() + L.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)), L, alpha


params = [torch.tensor(v, dtype=torch.float64, requires_grad=True)
          for v in (math.log(.05), 0.0, math.log(1e-3))]
opt = torch.optim.Adam(params, lr=0.05)
trace = []
for step in range(300):
    opt.zero_grad()
    nll, L, alpha = neg_log_marginal(*params)
    nll.backward()
    opt.step()
    trace.append(nll.item())
    if step % 50 == 49:
        ell, amp, noise = (p.exp().item() for p in params)
        print(f'step {step + 1:3d}: nll {trace[-1]:10.3f}  length {ell:.4f}  amplitude {amp:.3f}  noise {noise:.2e}')

with torch.no_grad():
    nll, L, alpha = neg_log_marginal(*params)
    K = L @ L.T
    eig = torch.linalg.eigvalsh(K)
    print(f'condition number of the kernel matrix {(eig[-1] / eig[0]).item():.2e}')
    Ks = rbf(x, xs, params[0], params[1])
    mean = (Ks.T @ alpha).squeeze(1) + y_mean
    v = torch.linalg.solve_triangular(L, Ks, upper=False)
    sd = ((2 * params[1]).exp() - v.pow(2).sum(0)).clamp_min(0).sqrt()
print('RMSE on left-out wavelengths', (mean - ys).pow(2).mean().sqrt().item())

plt.plot(wave, clean, lw=1)
plt.errorbar(xs, mean, 2 * sd, fmt='.', ms=3)
plt.xlabel('wavelength (scaled)')
plt.ylabel('absorbance')
plt.figure()
plt.plot(trace)
plt.ylabel('negative log marginal likelihood')
plt.show()
"""
