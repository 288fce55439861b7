NAME = 'Tunes the length scales of an anisotropic Gaussian-process emulator by marginal likelihood in double precision.'
FAULT = None
CURE = None
KIND = None
WHY = 'Double precision and a new Cholesky factorisation at every step are needed, because the kernel changes with its parameters and the smooth RBF matrix with a tiny noise is too ill-conditioned for float32.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import math
import torch

torch.set_num_threads(1)
torch.manual_seed(56)

N, DIMS, NOISE = 800, 5, 1e-6


def simulator(x):
    wave = torch.sin(3 * x[:, 0] + x[:, 1])
    bump = torch.exp(-2 * (x[:, 2] - 0.4) ** 2)
    return wave * bump + 0.3 * x[:, 3] ** 2 + 0.01 * x[:, 4]


x = torch.rand(N, DIMS, dtype=torch.float64)
y = simulator(x)
offset, spread = y.mean(), y.std()
y = (y - offset) / spread
noise_matrix = NOISE * torch.eye(N, dtype=torch.float64)


def rbf(a, b, log_length, log_scale):
    a, b = a / log_length.exp(), b / log_length.exp()
    square = a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2 * a @ b.T
    return torch.exp(log_scale - 0.5 * square.clamp_min(0))


def negative_log_likelihood(log_length, log_scale):
    chol = torch.linalg.cholesky(rbf(x, x, log_length, log_scale) + noise_matrix)
    half = torch.linalg.solve_triangular(chol, y.unsqueeze(1), upper=False)
    return 0.5 * half.pow(2).sum() + chol.diagonal().log().sum() + 0.5 * N * math.log(2 * math.pi)


log_length = torch.full((DIMS,), -0.5, dtype=torch.float64, requires_grad=True)
log_scale = torch.zeros((), dtype=torch.float64, requires_grad=True)
opt = torch.optim.Adam([log_length, log_scale], lr=0.08)

for step in range(1, 81):
    opt.zero_grad()
    loss = negative_log_likelihood(log_length, log_scale)
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step}: nll per point {loss.item() / N:.4f}")

with torch.no_grad():
    covariance = rbf(x, x, log_length, log_scale) + noise_matrix
    chol = torch.linalg.cholesky(covariance)
    weights = torch.cholesky_solve(y.unsqueeze(1), chol)
    fresh = torch.rand(1500, DIMS, dtype=torch.float64)
    cross = rbf(fresh, x, log_length, log_scale)
    guess = (cross @ weights).squeeze(1) * spread + offset
    eigen = torch.linalg.eigvalsh(covariance)
    error = (guess - simulator(fresh)).abs()

print("length scales " + " ".join(f"{v:.2f}" for v in log_length.exp().tolist()))
print(f"condition number 1e{math.log10((eigen[-1] / eigen[0]).item()):.1f}")
print(f"emulator error: mean {error.mean().item():.1e}, worst {error.max().item():.1e}")
"""
