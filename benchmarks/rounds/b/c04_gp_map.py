NAME = 'Gaussian-process map of a pollutant'
FAULT = 'predict rebuilds and factorises the training covariance for every chunk of grid points'
CURE = 'compute the Cholesky factor and alpha once in fit'
KIND = 'time'
FAULT_LINES = ['mu, var = gp.predict(chunk)', 'chol = torch.linalg.cholesky(kxx)', 'kxx = rbf(self.x, self.x, self.scale) + self.noise * torch.eye(len(self.x))']
FAULT_CALLS = ['torch.linalg.cholesky', 'cholesky', 'rbf', 'predict']
FAULTY = r'''
import math
import torch

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
N_TRAIN, N_GRID, CHUNK = 1100, 48, 128

def rbf(a, b, scale, amp=1.0):
    return amp * torch.exp(-0.5 * (torch.cdist(a, b) / scale) ** 2)

class GP:
    def __init__(self, scale, noise=0.05):
        self.scale, self.noise = scale, noise

    def fit(self, x, y):
        self.x, self.y = x, y
        return self

    def predict(self, xs):
        kxx = rbf(self.x, self.x, self.scale) + self.noise * torch.eye(len(self.x))
        chol = torch.linalg.cholesky(kxx)
        alpha = torch.cholesky_solve(self.y[:, None], chol)
        ks = rbf(xs, self.x, self.scale)
        mean = (ks @ alpha).squeeze(1)
        v = torch.linalg.solve_triangular(chol, ks.T, upper=False)
        return mean, 1.0 - (v ** 2).sum(0)

def truth(p):
    return torch.sin(3 * p[:, 0]) * torch.cos(2 * p[:, 1])

stations = torch.rand(N_TRAIN, 2) * 4
obs = truth(stations) + 0.2 * torch.randn(N_TRAIN)
axis = torch.linspace(0, 4, N_GRID)
grid = torch.cartesian_prod(axis, axis)

report = {}
for scale in (0.2, 0.4, 0.6, 0.9):
    gp = GP(scale).fit(stations, obs)
    mus, vs = [], []
    for chunk in grid.split(CHUNK):
        mu, var = gp.predict(chunk)
        mus.append(mu)
        vs.append(var)
    mu, var = torch.cat(mus), torch.cat(vs)
    rmse = (mu - truth(grid)).pow(2).mean().sqrt().item()
    report[scale] = (round(rmse, 4), round(var.mean().item(), 4))
torch.set_default_dtype(torch.float32)
print(report)
'''
CURED = r'''
import math
import torch

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
N_TRAIN, N_GRID, CHUNK = 1100, 48, 128

def rbf(a, b, scale, amp=1.0):
    return amp * torch.exp(-0.5 * (torch.cdist(a, b) / scale) ** 2)

class GP:
    def __init__(self, scale, noise=0.05):
        self.scale, self.noise = scale, noise

    def fit(self, x, y):
        self.x, self.y = x, y
        kxx = rbf(self.x, self.x, self.scale) + self.noise * torch.eye(len(self.x))
        self.chol = torch.linalg.cholesky(kxx)
        self.alpha = torch.cholesky_solve(self.y[:, None], self.chol)
        return self

    def predict(self, xs):
        ks = rbf(xs, self.x, self.scale)
        mean = (ks @ self.alpha).squeeze(1)
        v = torch.linalg.solve_triangular(self.chol, ks.T, upper=False)
        return mean, 1.0 - (v ** 2).sum(0)

def truth(p):
    return torch.sin(3 * p[:, 0]) * torch.cos(2 * p[:, 1])

stations = torch.rand(N_TRAIN, 2) * 4
obs = truth(stations) + 0.2 * torch.randn(N_TRAIN)
axis = torch.linspace(0, 4, N_GRID)
grid = torch.cartesian_prod(axis, axis)

report = {}
for scale in (0.2, 0.4, 0.6, 0.9):
    gp = GP(scale).fit(stations, obs)
    mus, vs = [], []
    for chunk in grid.split(CHUNK):
        mu, var = gp.predict(chunk)
        mus.append(mu)
        vs.append(var)
    mu, var = torch.cat(mus), torch.cat(vs)
    rmse = (mu - truth(grid)).pow(2).mean().sqrt().item()
    report[scale] = (round(rmse, 4), round(var.mean().item(), 4))
torch.set_default_dtype(torch.float32)
print(report)
'''
