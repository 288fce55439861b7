NAME = 'g07_coal_mining_hmc'
FAULT = 'The multivariate normal prior is built anew from the unchanging covariance at each call of the log density, which checks and factorises the matrix every time.'
CURE = 'Build the prior distribution once outside of the function.'
KIND = 'time'
FAULT_LINES = [
    '    prior = MultivariateNormal(mean, covariance_matrix=K)',
    '    lp = log_joint(f)',
]
FAULT_CALLS = ['torch.distributions.MultivariateNormal', 'aten::linalg_cholesky_ex', 'torch.linalg.cholesky', 'log_joint']

FAULTY = r'''
import math
import torch
from torch.distributions import MultivariateNormal, Poisson

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(1851)

# yearly counts -> log-Gaussian Cox process on a fine grid
n = 280
t = torch.linspace(0, 1, n)
true_rate = torch.exp(1.2 + 0.9 * torch.cos(5 * t) - 1.1 * t)
counts = torch.poisson(true_rate)

K = 0.8 * torch.exp(-0.5 * ((t[:, None] - t[None]) / 0.08) ** 2) + 1e-4 * torch.eye(n)
mean = torch.full((n,), 0.7)


def log_joint(f):
    prior = MultivariateNormal(mean, covariance_matrix=K)
    return prior.log_prob(f) + Poisson(f.exp()).log_prob(counts).sum()


def value_and_grad(f):
    f = f.detach().requires_grad_(True)
    lp = log_joint(f)
    (g,) = torch.autograd.grad(lp, f)
    return lp.detach(), g


# HMC; K itself as inverse mass matrix (so the momentum has covariance K^-1)
L_mass = torch.linalg.cholesky(K)
eps, n_leap, n_iter, burn = 0.07, 12, 320, 80
f = mean.clone()
lp, g = value_and_grad(f)
kept, accepted = [], 0
for it in range(n_iter):
    z = torch.randn(n)
    p = torch.linalg.solve_triangular(L_mass.T, z[:, None], upper=True).squeeze(1)
    h0 = lp - 0.5 * (L_mass.T @ p).square().sum()
    fn, gn = f, g
    for _ in range(n_leap):
        p = p + 0.5 * eps * gn
        fn = fn + eps * (L_mass @ (L_mass.T @ p))
        lpn, gn = value_and_grad(fn)
        p = p + 0.5 * eps * gn
    h1 = lpn - 0.5 * (L_mass.T @ p).square().sum()
    if math.log(torch.rand(()).item()) < (h1 - h0).item():
        f, lp, g = fn, lpn, gn
        accepted += 1
    if it >= burn:
        kept.append(f)

post = torch.stack(kept).exp()
lo, hi = post.quantile(0.05, 0), post.quantile(0.95, 0)
print("acceptance", round(accepted / n_iter, 3))
print("rmse of the rate: %.3f" % (post.mean(0) - true_rate).square().mean().sqrt().item())
print("90%% band covers %.2f of the truth" % ((lo < true_rate) & (true_rate < hi)).double().mean().item())
torch.set_default_dtype(torch.float32)
'''

CURED = r'''
import math
import torch
from torch.distributions import MultivariateNormal, Poisson

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(1851)

# yearly counts -> log-Gaussian Cox process on a fine grid
n = 280
t = torch.linspace(0, 1, n)
true_rate = torch.exp(1.2 + 0.9 * torch.cos(5 * t) - 1.1 * t)
counts = torch.poisson(true_rate)

K = 0.8 * torch.exp(-0.5 * ((t[:, None] - t[None]) / 0.08) ** 2) + 1e-4 * torch.eye(n)
mean = torch.full((n,), 0.7)


prior = MultivariateNormal(mean, covariance_matrix=K)


def log_joint(f):
    return prior.log_prob(f) + Poisson(f.exp()).log_prob(counts).sum()


def value_and_grad(f):
    f = f.detach().requires_grad_(True)
    lp = log_joint(f)
    (g,) = torch.autograd.grad(lp, f)
    return lp.detach(), g


# HMC; K itself as inverse mass matrix (so the momentum has covariance K^-1)
L_mass = torch.linalg.cholesky(K)
eps, n_leap, n_iter, burn = 0.07, 12, 320, 80
f = mean.clone()
lp, g = value_and_grad(f)
kept, accepted = [], 0
for it in range(n_iter):
    z = torch.randn(n)
    p = torch.linalg.solve_triangular(L_mass.T, z[:, None], upper=True).squeeze(1)
    h0 = lp - 0.5 * (L_mass.T @ p).square().sum()
    fn, gn = f, g
    for _ in range(n_leap):
        p = p + 0.5 * eps * gn
        fn = fn + eps * (L_mass @ (L_mass.T @ p))
        lpn, gn = value_and_grad(fn)
        p = p + 0.5 * eps * gn
    h1 = lpn - 0.5 * (L_mass.T @ p).square().sum()
    if math.log(torch.rand(()).item()) < (h1 - h0).item():
        f, lp, g = fn, lpn, gn
        accepted += 1
    if it >= burn:
        kept.append(f)

post = torch.stack(kept).exp()
lo, hi = post.quantile(0.05, 0), post.quantile(0.95, 0)
print("acceptance", round(accepted / n_iter, 3))
print("rmse of the rate: %.3f" % (post.mean(0) - true_rate).square().mean().sqrt().item())
print("90%% band covers %.2f of the truth" % ((lo < true_rate) & (true_rate < hi)).double().mean().item())
torch.set_default_dtype(torch.float32)
'''
