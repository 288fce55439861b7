# Looks suspicious: everything in float64, a fresh O(n^3) Cholesky at every optimizer step, jitter, a Python loop of full-batch steps.
# Right: the kernel matrix of a smooth RBF with noise 1e-5 has a condition number of some 1e8 to 1e10; in float32 the Cholesky fails (LinAlgError, checked).
# The hyperparameters change in each step, so the factor cannot be reused; posterior uses the one factor for all test points.

NAME = 'Fits the hyperparameters of a nearly noise-free Gaussian process by maximum likelihood and predicts.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(1)
dtype = torch.float64

n = 700
x = torch.sort(torch.rand(n, dtype=dtype) * 6).values[:, None]
y = (torch.sin(3 * x) * torch.exp(-0.2 * x)).squeeze(-1) + 1e-3 * torch.randn(n, dtype=dtype)
sq = torch.cdist(x, x).pow(2)
eye = torch.eye(n, dtype=dtype)

raw = torch.tensor([0.0, math.log(0.5), math.log(1e-2)], dtype=dtype, requires_grad=True)  # log amp, log ell, log noise


def kernel(sq, amp, ell):
    return amp ** 2 * torch.exp(-0.5 * sq / ell ** 2)


def nll(raw):
    amp, ell, noise = raw.exp()
    K = kernel(sq, amp, ell) + (noise ** 2 + 1e-10) * eye
    Lc = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], Lc).squeeze(-1)
    return 0.5 * y @ alpha + Lc.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi), Lc, alpha


opt = torch.optim.Adam([raw], lr=0.08)
for it in range(110):
    opt.zero_grad()
    loss, _, _ = nll(raw)
    loss.backward()
    opt.step()
    if it % 20 == 0:
        a, l, s = raw.exp().tolist()
        print(f"{it:3d}  nll {loss.item():10.3f}  amp {a:.3f}  ell {l:.3f}  noise {s:.2e}")

with torch.no_grad():
    _, Lc, alpha = nll(raw)
    xt = torch.linspace(0, 6, 400, dtype=dtype)[:, None]
    Ks = kernel(torch.cdist(xt, x).pow(2), *raw.exp()[:2])
    mean = Ks @ alpha
    var = raw.exp()[0] ** 2 - torch.linalg.solve_triangular(Lc, Ks.T, upper=False).pow(2).sum(0)
truth = (torch.sin(3 * xt) * torch.exp(-0.2 * xt)).squeeze(-1)
print(f"rmse {float((mean - truth).pow(2).mean().sqrt()):.2e}   mean predictive sd {float(var.clamp(min=0).sqrt().mean()):.2e}")
"""
