NAME = 'Active learning of a two-dimensional field with a Gaussian process: fit, predict all candidates, measure where the variance is largest.'
FAULT = 'The posterior builds the full covariance between all 3600 candidates although only its diagonal is used.'
CURE = 'Compute the variances directly: prior variance minus the column sums of v squared.'
KIND = 'time'
FAULT_LINES = [
    'cov = self.kernel(xs, xs) - v.T @ v',
    'return mean, cov.diagonal().clamp_min(1e-12)',
    'mean, var = gp.posterior(x, y, candidates)',
]
FAULT_CALLS = ['kernel', 'posterior', 'matmul', 'mm', 'exp']

FAULTY = r"""
import math

import torch

torch.manual_seed(2)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def field(x):
    return torch.sin(5 * x[:, 0]) * torch.cos(4 * x[:, 1]) + 0.5 * torch.exp(-20 * ((x - 0.7) ** 2).sum(1))


class GP:
    def __init__(self, scale=0.2, var=1.0, noise=0.05):
        self.log_scale = torch.tensor(math.log(scale), requires_grad=True)
        self.log_var = torch.tensor(math.log(var), requires_grad=True)
        self.log_noise = torch.tensor(math.log(noise), requires_grad=True)

    def params(self):
        return [self.log_scale, self.log_var, self.log_noise]

    def kernel(self, a, b):
        d2 = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T
        return self.log_var.exp() * torch.exp(-0.5 * d2.clamp_min(0) / self.log_scale.exp() ** 2)

    def chol(self, x):
        return torch.linalg.cholesky(self.kernel(x, x) + self.log_noise.exp() ** 2 * torch.eye(len(x)))

    def nll(self, x, y):
        L = self.chol(x)
        a = torch.cholesky_solve(y[:, None], L)[:, 0]
        return 0.5 * y @ a + L.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)

    @torch.no_grad()
    def posterior(self, x, y, xs):
        L = self.chol(x)
        ks = self.kernel(x, xs)
        mean = ks.T @ torch.cholesky_solve(y[:, None], L)[:, 0]
        v = torch.linalg.solve_triangular(L, ks, upper=False)
        cov = self.kernel(xs, xs) - v.T @ v
        return mean, cov.diagonal().clamp_min(1e-12)


def fit(gp, x, y, steps):
    opt = torch.optim.Adam(gp.params(), lr=0.05)
    for _ in range(steps):
        loss = gp.nll(x, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item() / len(x)


candidates = torch.rand(3600, 2)
truth = field(candidates)
x = torch.rand(60, 2)
y = field(x) + 0.05 * torch.randn(60)
gp = GP()
for rnd in range(15):
    nll = fit(gp, x, y, 25)
    mean, var = gp.posterior(x, y, candidates)
    pick = var.argmax()
    rmse = (mean - truth).pow(2).mean().sqrt().item()
    near = (candidates - candidates[pick]).pow(2).sum(1).topk(10, largest=False).indices
    x = torch.cat([x, candidates[near]])
    y = torch.cat([y, field(candidates[near]) + 0.05 * torch.randn(10)])
    if rnd % 3 == 2:
        print(f"round {rnd:2d} points {len(x)} nll/pt {nll:.4f} rmse {rmse:.4f} widest std {var.max().sqrt().item():.4f}")
torch.set_default_dtype(torch.float32)
"""

CURED = r"""
import math

import torch

torch.manual_seed(2)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def field(x):
    return torch.sin(5 * x[:, 0]) * torch.cos(4 * x[:, 1]) + 0.5 * torch.exp(-20 * ((x - 0.7) ** 2).sum(1))


class GP:
    def __init__(self, scale=0.2, var=1.0, noise=0.05):
        self.log_scale = torch.tensor(math.log(scale), requires_grad=True)
        self.log_var = torch.tensor(math.log(var), requires_grad=True)
        self.log_noise = torch.tensor(math.log(noise), requires_grad=True)

    def params(self):
        return [self.log_scale, self.log_var, self.log_noise]

    def kernel(self, a, b):
        d2 = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T
        return self.log_var.exp() * torch.exp(-0.5 * d2.clamp_min(0) / self.log_scale.exp() ** 2)

    def chol(self, x):
        return torch.linalg.cholesky(self.kernel(x, x) + self.log_noise.exp() ** 2 * torch.eye(len(x)))

    def nll(self, x, y):
        L = self.chol(x)
        a = torch.cholesky_solve(y[:, None], L)[:, 0]
        return 0.5 * y @ a + L.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)

    @torch.no_grad()
    def posterior(self, x, y, xs):
        L = self.chol(x)
        ks = self.kernel(x, xs)
        mean = ks.T @ torch.cholesky_solve(y[:, None], L)[:, 0]
        v = torch.linalg.solve_triangular(L, ks, upper=False)
        var = self.log_var.exp() - (v * v).sum(0)
        return mean, var.clamp_min(1e-12)


def fit(gp, x, y, steps):
    opt = torch.optim.Adam(gp.params(), lr=0.05)
    for _ in range(steps):
        loss = gp.nll(x, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item() / len(x)


candidates = torch.rand(3600, 2)
truth = field(candidates)
x = torch.rand(60, 2)
y = field(x) + 0.05 * torch.randn(60)
gp = GP()
for rnd in range(15):
    nll = fit(gp, x, y, 25)
    mean, var = gp.posterior(x, y, candidates)
    pick = var.argmax()
    rmse = (mean - truth).pow(2).mean().sqrt().item()
    near = (candidates - candidates[pick]).pow(2).sum(1).topk(10, largest=False).indices
    x = torch.cat([x, candidates[near]])
    y = torch.cat([y, field(candidates[near]) + 0.05 * torch.randn(10)])
    if rnd % 3 == 2:
        print(f"round {rnd:2d} points {len(x)} nll/pt {nll:.4f} rmse {rmse:.4f} widest std {var.max().sqrt().item():.4f}")
torch.set_default_dtype(torch.float32)
"""
