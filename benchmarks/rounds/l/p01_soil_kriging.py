NAME = 'Fits a Gaussian process with one length scale per variable to soil measurements and predicts at new places.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch

torch.set_num_threads(1)
torch.manual_seed(1)

n, n_new, dims = 900, 400, 6
X = torch.rand(n, dims)
X_new = torch.rand(n_new, dims)


def truth(x):
    return torch.sin(5 * x[:, 0]) + 2 * (x[:, 1] - 0.5) ** 2 + 0.5 * torch.cos(7 * x[:, 2]) * x[:, 3]


y = truth(X) + 0.2 * torch.randn(n)
y_mean = y.mean()
y = y - y_mean

log_scale = torch.zeros(dims, requires_grad=True)
log_var = torch.zeros((), requires_grad=True)
log_noise = torch.tensor(-1.0, requires_grad=True)


def kernel(a, b):
    a, b = a / log_scale.exp(), b / log_scale.exp()
    d2 = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T
    return log_var.exp() * torch.exp(-0.5 * d2.clamp(min=0))


def factor():
    K = kernel(X, X) + (log_noise.exp() + 1e-3) * torch.eye(n)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], L)
    return L, alpha


opt = torch.optim.Adam([log_scale, log_var, log_noise], lr=0.1)
trace = []
for it in range(70):
    L, alpha = factor()
    nll = 0.5 * y @ alpha[:, 0] + L.diagonal().log().sum()
    opt.zero_grad()
    nll.backward()
    opt.step()
    trace.append(nll.item())
    if it > 20 and abs(trace[-1] - trace[-5]) < 1e-3 * abs(trace[-1]) / 100:
        break

with torch.no_grad():
    L, alpha = factor()
    Ks = kernel(X_new, X)
    mean = (Ks @ alpha)[:, 0] + y_mean
    v = torch.linalg.solve_triangular(L, Ks.T, upper=False)
    var = log_var.exp() - (v * v).sum(0)

rmse = (mean - truth(X_new)).pow(2).mean().sqrt().item()
print(f"nll {trace[0]:.2f} -> {trace[-1]:.2f} in {len(trace)}, rmse {rmse:.4f}, mean sd {var.clamp(min=0).sqrt().mean().item():.4f}")
"""
