NAME = 'd01_kriging_map'
FAULT = 'The posterior function rebuilds and refactorises the kernel matrix of the stations for every tile of the map although it does not depend on the tile.'
CURE = 'Compute the Cholesky factor and the weights once before the loop over tiles.'
KIND = 'time'
FAULT_LINES = (17, 18, 32)
FAULT_CALLS = ('posterior', 'cholesky', 'linalg_cholesky_ex', 'matern32', 'cdist')
FAULTY = """\
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

n = 1500
stations = torch.rand(n, 2) * 10
temp = torch.sin(stations[:, 0]) + torch.cos(1.3 * stations[:, 1]) + 0.1 * torch.randn(n)


def matern32(a, b, ls=0.9):
    r = torch.cdist(a, b) * (3 ** 0.5 / ls)
    return (1 + r) * torch.exp(-r)


def posterior(x_new, x, y, noise=0.01):
    K = matern32(x, x) + noise * torch.eye(len(x))
    L = torch.linalg.cholesky(K)
    w = torch.cholesky_solve(y[:, None], L)
    Ks = matern32(x_new, x)
    mean = (Ks @ w)[:, 0]
    v = torch.linalg.solve_triangular(L, Ks.T, upper=False)
    var = 1.0 - (v ** 2).sum(0)
    return mean, var


g = torch.linspace(0, 10, 72)
grid = torch.stack(torch.meshgrid(g, g, indexing="ij"), -1).reshape(-1, 2)

means, sds = [], []
for tile in grid.split(96):
    m, v = posterior(tile, stations, temp)
    means.append(m)
    sds.append(v.clamp(min=0).sqrt())

field = torch.cat(means).view(72, 72)
sd = torch.cat(sds).view(72, 72)
print("field range %.4f %.4f" % (field.min(), field.max()), "mean sd %.5f" % sd.mean())
"""
CURED = """\
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

n = 1500
stations = torch.rand(n, 2) * 10
temp = torch.sin(stations[:, 0]) + torch.cos(1.3 * stations[:, 1]) + 0.1 * torch.randn(n)


def matern32(a, b, ls=0.9):
    r = torch.cdist(a, b) * (3 ** 0.5 / ls)
    return (1 + r) * torch.exp(-r)


def fit(x, y, noise=0.01):
    K = matern32(x, x) + noise * torch.eye(len(x))
    L = torch.linalg.cholesky(K)
    return L, torch.cholesky_solve(y[:, None], L)


def posterior(x_new, x, L, w):
    Ks = matern32(x_new, x)
    mean = (Ks @ w)[:, 0]
    v = torch.linalg.solve_triangular(L, Ks.T, upper=False)
    var = 1.0 - (v ** 2).sum(0)
    return mean, var


g = torch.linspace(0, 10, 72)
grid = torch.stack(torch.meshgrid(g, g, indexing="ij"), -1).reshape(-1, 2)

L, w = fit(stations, temp)
means, sds = [], []
for tile in grid.split(96):
    m, v = posterior(tile, stations, L, w)
    means.append(m)
    sds.append(v.clamp(min=0).sqrt())

field = torch.cat(means).view(72, 72)
sd = torch.cat(sds).view(72, 72)
print("field range %.4f %.4f" % (field.min(), field.max()), "mean sd %.5f" % sd.mean())
"""
