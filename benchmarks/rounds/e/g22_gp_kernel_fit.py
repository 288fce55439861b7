# The kernel matrix changes with the length scales and noise in each optimiser step, so it has to
# be built and factorised anew each time; only the inputs are fixed.

NAME = 'g22_gp_kernel_fit'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'The n x n kernel matrix is rebuilt and Cholesky-factorised in every iteration; factorise once and reuse.'

GOOD = r'''
import math
import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

torch.set_num_threads(1)
torch.manual_seed(0)

X, y = load_diabetes(return_X_y=True)
X = torch.tensor(StandardScaler().fit_transform(X), dtype=torch.float64)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float64)
perm = torch.randperm(len(X))
tr, te = perm[:360], perm[360:]
Xt, yt = X[tr], y[tr]
n, d = Xt.shape
eye = torch.eye(n, dtype=torch.float64)


def rbf(A, B, log_ls, log_amp):
    """ARD squared exponential"""
    a, b = A / log_ls.exp(), B / log_ls.exp()
    d2 = a.pow(2).sum(1, keepdim=True) - 2 * a @ b.T + b.pow(2).sum(1)
    return torch.exp(2 * log_amp - 0.5 * d2)


def neg_mll(log_ls, log_amp, log_noise):
    K = rbf(Xt, Xt, log_ls, log_amp) + ((2 * log_noise).exp() + 1e-8) * eye
    L = torch.linalg.cholesky(K)
    w = torch.linalg.solve_triangular(L, yt[:, None], upper=False)
    return 0.5 * w.pow(2).sum() + L.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)


best = None
for restart in range(4):
    log_ls = (1.0 + 0.5 * torch.randn(d, dtype=torch.float64)).requires_grad_()
    log_amp = torch.zeros((), dtype=torch.float64, requires_grad=True)
    log_noise = torch.tensor(-0.5, dtype=torch.float64, requires_grad=True)
    opt = torch.optim.Adam([log_ls, log_amp, log_noise], lr=0.05)
    for it in range(150):
        opt.zero_grad()
        loss = neg_mll(log_ls, log_amp, log_noise)
        loss.backward()
        opt.step()
    print(f"restart {restart}: -mll {loss.item():.3f}, noise {log_noise.exp().item():.3f}")
    if best is None or loss.item() < best[0]:
        best = (loss.item(), log_ls.detach(), log_amp.detach(), log_noise.detach())

_, ls, amp, noise = best
K = rbf(Xt, Xt, ls, amp) + (2 * noise).exp() * eye
mean = rbf(X[te], Xt, ls, amp) @ torch.cholesky_solve(yt[:, None], torch.linalg.cholesky(K))
print("test rmse %.4f" % (mean.squeeze(1) - y[te]).pow(2).mean().sqrt().item())
print("most relevant columns", ls.argsort()[:3].tolist())
'''
