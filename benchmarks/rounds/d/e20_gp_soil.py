NAME = 'e20_gp_soil'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
# Gaussian-process map of soil moisture; maximum marginal likelihood for the hyperparameters
import math
import torch

torch.manual_seed(109)
torch.set_num_threads(1)
torch.set_default_dtype(torch.double)       # kernel matrices with condition numbers near 1e9

N, N_GRID = 900, 400
site = torch.rand(N, 2) * 10
true = lambda p: torch.sin(p[:, 0]) + 0.5 * torch.cos(1.7 * p[:, 1]) + 0.1 * p[:, 0]
y = true(site) + 0.002 * torch.randn(N)
y_mean = y.mean()
yc = y - y_mean
d2 = (site[:, None, :] - site[None, :, :]).pow(2)          # constant, per axis: (N, N, 2)
d2x, d2y = d2.unbind(-1)
d2x, d2y = d2x.contiguous(), d2y.contiguous()
del d2

log_ls = torch.zeros(2, requires_grad=True)
log_amp = torch.zeros((), requires_grad=True)
log_noise = torch.tensor(-3.0, requires_grad=True)
opt = torch.optim.Adam([log_ls, log_amp, log_noise], lr=0.08)
eye = torch.eye(N)


def kernel(ax, ay):
    inv = torch.exp(-2 * log_ls)
    return torch.exp(2 * log_amp - 0.5 * (ax * inv[0] + ay * inv[1]))


def negative_log_likelihood():
    K = kernel(d2x, d2y) + (torch.exp(2 * log_noise) + 1e-8) * eye
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(yc[:, None], L)[:, 0]
    return 0.5 * yc @ alpha + L.diagonal().log().sum() + 0.5 * N * math.log(2 * math.pi)


for it in range(50):
    opt.zero_grad()
    nll = negative_log_likelihood()
    nll.backward()
    opt.step()
    if it % 10 == 9:
        ls = log_ls.detach().exp()
        print(f"{it + 1:3d}  nll {nll.item():9.3f}  length {ls[0]:.3f} {ls[1]:.3f}  noise {log_noise.exp().item():.4f}")

with torch.no_grad():
    grid = torch.rand(N_GRID, 2) * 10
    K = kernel(d2x, d2y) + (torch.exp(2 * log_noise) + 1e-8) * eye
    Ks = kernel((grid[:, None, 0] - site[None, :, 0]) ** 2, (grid[:, None, 1] - site[None, :, 1]) ** 2)
    L = torch.linalg.cholesky(K)
    mean = y_mean + Ks @ torch.cholesky_solve(yc[:, None], L)[:, 0]
    v = torch.linalg.solve_triangular(L, Ks.T, upper=False)
    std = (torch.exp(2 * log_amp) - v.pow(2).sum(0)).clamp_min(0).sqrt()
    print(f"grid rmse {(mean - true(grid)).pow(2).mean().sqrt():.5f}   mean predictive std {std.mean():.5f}")
'''
