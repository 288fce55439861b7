NAME = 'Fits the ARD lengthscales of a Gaussian process by gradient ascent on its marginal likelihood and predicts held-out points.'
FAULT = 'The negative log likelihood forms the explicit inverse and a separate logdet of the kernel matrix, two factorisations with costly backward passes.'
CURE = 'Use one Cholesky factor for both the solve and the log determinant.'
KIND = 'time'
FAULT_LINES = ['K_inv = torch.linalg.inv(K)', 'quad = y @ (K_inv @ y)', 'logdet = torch.logdet(K)', 'loss.backward()']
FAULT_CALLS = ['inv', 'logdet', 'neg_log_likelihood', 'backward', 'linalg_inv_ex', 'lu_solve', 'matmul']

FAULTY = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
torch.set_default_dtype(torch.float64)

N_TRAIN, N_TEST, DIM = 1100, 300, 6


def simulate(n):
    x = torch.rand(n, DIM) * 2 - 1
    f = torch.sin(3 * x[:, 0]) + 0.8 * x[:, 1] * x[:, 2] + 0.3 * torch.cos(5 * x[:, 3])
    return x, f + 0.15 * torch.randn(n)


x_train, y_train = simulate(N_TRAIN)
x_test, y_test = simulate(N_TEST)
shift, scale = y_train.mean(), y_train.std()
y_train, y_test = (y_train - shift) / scale, (y_test - shift) / scale


class ARDKernel(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_length = nn.Parameter(torch.zeros(dim))
        self.log_signal = nn.Parameter(torch.tensor(0.0))

    def forward(self, a, b):
        a, b = a / self.log_length.exp(), b / self.log_length.exp()
        sq = (a ** 2).sum(1)[:, None] + (b ** 2).sum(1)[None, :] - 2.0 * a @ b.T
        return torch.exp(2 * self.log_signal - 0.5 * sq)


class ExactGP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.kernel = ARDKernel(dim)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def covariance(self, x):
        return self.kernel(x, x) + torch.eye(len(x)) * (2 * self.log_noise).exp()

    def neg_log_likelihood(self, x, y):
        K = self.covariance(x)
        K_inv = torch.linalg.inv(K)
        quad = y @ (K_inv @ y)
        logdet = torch.logdet(K)
        return 0.5 * (quad + logdet + len(y) * math.log(2 * math.pi))

    @torch.no_grad()
    def predict(self, x, y, x_new):
        L = torch.linalg.cholesky(self.covariance(x))
        k = self.kernel(x, x_new)
        alpha = torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, k, upper=False)
        var = (2 * self.kernel.log_signal).exp() + (2 * self.log_noise).exp() - (v ** 2).sum(0)
        return (k.T @ alpha)[:, 0], var


gp = ExactGP(DIM)
opt = torch.optim.Adam(gp.parameters(), lr=0.08)

for step in range(1, 37):
    opt.zero_grad()
    loss = gp.neg_log_likelihood(x_train, y_train)
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"step {step}: nll {loss.item():.2f}, noise {gp.log_noise.exp().item():.3f}")

mean, var = gp.predict(x_train, y_train, x_test)
rmse = (mean - y_test).pow(2).mean().sqrt()
coverage = ((mean - y_test).abs() < 1.96 * var.sqrt()).double().mean()
print("lengthscales", [round(v, 2) for v in gp.kernel.log_length.exp().tolist()])
print(f"test rmse {rmse.item():.3f}, 95% coverage {coverage.item():.3f}")
'''

CURED = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
torch.set_default_dtype(torch.float64)

N_TRAIN, N_TEST, DIM = 1100, 300, 6


def simulate(n):
    x = torch.rand(n, DIM) * 2 - 1
    f = torch.sin(3 * x[:, 0]) + 0.8 * x[:, 1] * x[:, 2] + 0.3 * torch.cos(5 * x[:, 3])
    return x, f + 0.15 * torch.randn(n)


x_train, y_train = simulate(N_TRAIN)
x_test, y_test = simulate(N_TEST)
shift, scale = y_train.mean(), y_train.std()
y_train, y_test = (y_train - shift) / scale, (y_test - shift) / scale


class ARDKernel(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_length = nn.Parameter(torch.zeros(dim))
        self.log_signal = nn.Parameter(torch.tensor(0.0))

    def forward(self, a, b):
        a, b = a / self.log_length.exp(), b / self.log_length.exp()
        sq = (a ** 2).sum(1)[:, None] + (b ** 2).sum(1)[None, :] - 2.0 * a @ b.T
        return torch.exp(2 * self.log_signal - 0.5 * sq)


class ExactGP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.kernel = ARDKernel(dim)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def covariance(self, x):
        return self.kernel(x, x) + torch.eye(len(x)) * (2 * self.log_noise).exp()

    def neg_log_likelihood(self, x, y):
        K = self.covariance(x)
        L = torch.linalg.cholesky(K)
        w = torch.linalg.solve_triangular(L, y[:, None], upper=False)
        quad = (w ** 2).sum()
        logdet = 2.0 * L.diagonal().log().sum()
        return 0.5 * (quad + logdet + len(y) * math.log(2 * math.pi))

    @torch.no_grad()
    def predict(self, x, y, x_new):
        L = torch.linalg.cholesky(self.covariance(x))
        k = self.kernel(x, x_new)
        alpha = torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, k, upper=False)
        var = (2 * self.kernel.log_signal).exp() + (2 * self.log_noise).exp() - (v ** 2).sum(0)
        return (k.T @ alpha)[:, 0], var


gp = ExactGP(DIM)
opt = torch.optim.Adam(gp.parameters(), lr=0.08)

for step in range(1, 37):
    opt.zero_grad()
    loss = gp.neg_log_likelihood(x_train, y_train)
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"step {step}: nll {loss.item():.2f}, noise {gp.log_noise.exp().item():.3f}")

mean, var = gp.predict(x_train, y_train, x_test)
rmse = (mean - y_test).pow(2).mean().sqrt()
coverage = ((mean - y_test).abs() < 1.96 * var.sqrt()).double().mean()
print("lengthscales", [round(v, 2) for v in gp.kernel.log_length.exp().tolist()])
print(f"test rmse {rmse.item():.3f}, 95% coverage {coverage.item():.3f}")
'''
