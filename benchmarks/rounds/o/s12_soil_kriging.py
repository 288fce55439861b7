NAME = 'Gaussian-process kriging of soil moisture with leave-one-out validation'
FAULT = 'Leave-one-out predictions are made by removing each point, building and factoring an (n-1)x(n-1) matrix and solving, n factorisations of O(n^3) per hyperparameter setting'
CURE = 'The closed form from one inverse: mu_i = y_i - [K^-1 y]_i / [K^-1]_ii, var_i = 1 / [K^-1]_ii'
KIND = 'time'
FAULT_LINES = ['for i in range(n):', 'L = torch.linalg.cholesky(K[keep][:, keep])', 'k_i = K[keep, i]', 'sol = torch.cholesky_solve(torch.stack([y[keep], k_i], 1), L)']
FAULT_CALLS = ['loo_predictions', 'torch.linalg.cholesky', 'torch.cholesky_solve', 'index']
FAULTY = r"""
import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# field campaign: 400 probes on a 10 km square, smooth trend plus patchy structure
n = 400
XY = torch.from_numpy(rng.uniform(0, 10, (n, 2)))
truth = 0.25 + 0.05 * torch.sin(XY[:, 0] * 0.9) * torch.cos(XY[:, 1] * 0.6) + 0.015 * torch.sin(3.1 * XY.sum(1))
y_raw = truth + 0.008 * torch.randn(n)
y = (y_raw - y_raw.mean()) / y_raw.std()


class Matern32(torch.nn.Module):
    def __init__(self, ls=1.0, amp=1.0, noise=0.1):
        super().__init__()
        self.log_ls = torch.nn.Parameter(torch.full((2,), math.log(ls)))
        self.log_amp = torch.nn.Parameter(torch.tensor(math.log(amp)))
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(noise)))

    def cross(self, a, b):
        a, b = a / self.log_ls.exp(), b / self.log_ls.exp()
        d2 = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
        r = math.sqrt(3) * (d2 + 1e-12).sqrt()
        return self.log_amp.exp() ** 2 * (1 + r) * torch.exp(-r)

    def forward(self, x):
        return self.cross(x, x) + (self.log_noise.exp() ** 2 + 1e-8) * torch.eye(len(x))


def neg_log_marginal(kernel, x, y):
    L = torch.linalg.cholesky(kernel(x))
    alpha = torch.cholesky_solve(y.unsqueeze(1), L).squeeze(1)
    return 0.5 * y @ alpha + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)


@torch.no_grad()
def loo_predictions(kernel, x, y):
    K = kernel(x)
    n = len(x)
    mu, var = torch.empty(n), torch.empty(n)
    for i in range(n):
        keep = torch.arange(n) != i
        L = torch.linalg.cholesky(K[keep][:, keep])
        k_i = K[keep, i]
        sol = torch.cholesky_solve(torch.stack([y[keep], k_i], 1), L)
        mu[i] = k_i @ sol[:, 0]
        var[i] = K[i, i] - k_i @ sol[:, 1]
    return mu, var


results = []
for start in (0.4, 1.0, 2.5):
    kernel = Matern32(ls=start)
    opt = torch.optim.Adam(kernel.parameters(), lr=0.1)
    for it in range(40):
        opt.zero_grad()
        nll = neg_log_marginal(kernel, XY, y)
        nll.backward()
        opt.step()
    mu, var = loo_predictions(kernel, XY, y)
    lpd = (-0.5 * ((y - mu) ** 2 / var + var.log() + math.log(2 * math.pi))).mean().item()
    rmse = ((y - mu) ** 2).mean().sqrt().item()
    cover = ((y - mu).abs() < 1.96 * var.sqrt()).double().mean().item()
    results.append((lpd, start))
    ls = kernel.log_ls.exp().tolist()
    print(f"start {start}: nll {nll.item():.3f}  ls ({ls[0]:.3f}, {ls[1]:.3f})  "
          f"LOO rmse {rmse:.4f}  LOO lpd {lpd:.4f}  coverage {cover:.3f}")
print("best start:", max(results)[1])
"""
CURED = r"""
import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(8)
rng = np.random.default_rng(8)

# field campaign: 400 probes on a 10 km square, smooth trend plus patchy structure
n = 400
XY = torch.from_numpy(rng.uniform(0, 10, (n, 2)))
truth = 0.25 + 0.05 * torch.sin(XY[:, 0] * 0.9) * torch.cos(XY[:, 1] * 0.6) + 0.015 * torch.sin(3.1 * XY.sum(1))
y_raw = truth + 0.008 * torch.randn(n)
y = (y_raw - y_raw.mean()) / y_raw.std()


class Matern32(torch.nn.Module):
    def __init__(self, ls=1.0, amp=1.0, noise=0.1):
        super().__init__()
        self.log_ls = torch.nn.Parameter(torch.full((2,), math.log(ls)))
        self.log_amp = torch.nn.Parameter(torch.tensor(math.log(amp)))
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(noise)))

    def cross(self, a, b):
        a, b = a / self.log_ls.exp(), b / self.log_ls.exp()
        d2 = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
        r = math.sqrt(3) * (d2 + 1e-12).sqrt()
        return self.log_amp.exp() ** 2 * (1 + r) * torch.exp(-r)

    def forward(self, x):
        return self.cross(x, x) + (self.log_noise.exp() ** 2 + 1e-8) * torch.eye(len(x))


def neg_log_marginal(kernel, x, y):
    L = torch.linalg.cholesky(kernel(x))
    alpha = torch.cholesky_solve(y.unsqueeze(1), L).squeeze(1)
    return 0.5 * y @ alpha + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)


@torch.no_grad()
def loo_predictions(kernel, x, y):
    K = kernel(x)
    Kinv = torch.cholesky_inverse(torch.linalg.cholesky(K))
    d = Kinv.diagonal()
    mu = y - (Kinv @ y) / d
    var = 1 / d
    return mu, var


results = []
for start in (0.4, 1.0, 2.5):
    kernel = Matern32(ls=start)
    opt = torch.optim.Adam(kernel.parameters(), lr=0.1)
    for it in range(40):
        opt.zero_grad()
        nll = neg_log_marginal(kernel, XY, y)
        nll.backward()
        opt.step()
    mu, var = loo_predictions(kernel, XY, y)
    lpd = (-0.5 * ((y - mu) ** 2 / var + var.log() + math.log(2 * math.pi))).mean().item()
    rmse = ((y - mu) ** 2).mean().sqrt().item()
    cover = ((y - mu).abs() < 1.96 * var.sqrt()).double().mean().item()
    results.append((lpd, start))
    ls = kernel.log_ls.exp().tolist()
    print(f"start {start}: nll {nll.item():.3f}  ls ({ls[0]:.3f}, {ls[1]:.3f})  "
          f"LOO rmse {rmse:.4f}  LOO lpd {lpd:.4f}  coverage {cover:.3f}")
print("best start:", max(results)[1])
"""
