NAME = 'Fits the hyperparameters of a Gaussian process surrogate of a nearly noise-free simulator by maximising the marginal likelihood.'
FAULT = None
CURE = None
KIND = None
WHY = 'Everything is kept in float64 and the covariance is factorised anew in each step, but the kernel changes with each step and its Cholesky factorisation fails in float32 because the noise is tiny.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import math

import torch

torch.set_num_threads(1)
torch.manual_seed(70)

DTYPE = torch.float64
N_RUNS, N_TEST, DIM = 600, 400, 4


def simulator(x):
    u = 2 * x - 1
    return torch.sin(2.5 * u[:, 0] + u[:, 1]) + 0.5 * u[:, 1] * u[:, 2] + 0.2 * torch.exp(-u[:, 3] ** 2)


def latin_hypercube(n, d):
    columns = [(torch.randperm(n) + torch.rand(n)) / n for _ in range(d)]
    return torch.stack(columns, 1).to(DTYPE)


def scaled_sq_dist(a, b):
    aa, bb = a.square().sum(1), b.square().sum(1)
    return (aa[:, None] + bb[None, :] - 2 * a @ b.T).clamp(min=0)


class Surrogate:
    def __init__(self, x, y):
        self.x, self.mean, self.spread = x, y.mean(), y.std()
        self.y = (y - self.mean) / self.spread
        self.log_scale = torch.full((DIM,), math.log(0.5), dtype=DTYPE, requires_grad=True)
        self.log_var = torch.tensor(0.0, dtype=DTYPE, requires_grad=True)
        self.log_noise = torch.tensor(math.log(1e-8), dtype=DTYPE, requires_grad=True)

    def parameters(self):
        return [self.log_scale, self.log_var, self.log_noise]

    def kernel(self, a, b):
        inv = torch.exp(-self.log_scale)
        return torch.exp(self.log_var - 0.5 * scaled_sq_dist(a * inv, b * inv))

    def factor(self):
        k = self.kernel(self.x, self.x)
        noise = torch.exp(self.log_noise) + 1e-9
        return torch.linalg.cholesky(k + noise * torch.eye(len(k), dtype=DTYPE))

    def neg_log_likelihood(self):
        chol = self.factor()
        white = torch.linalg.solve_triangular(chol, self.y[:, None], upper=False)
        n = len(self.y)
        return 0.5 * white.square().sum() + chol.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, x_new):
        chol = self.factor()
        alpha = torch.cholesky_solve(self.y[:, None], chol)
        cross = self.kernel(x_new, self.x)
        v = torch.linalg.solve_triangular(chol, cross.T, upper=False)
        var = (torch.exp(self.log_var) - v.square().sum(0)).clamp(min=0)
        return self.mean + self.spread * (cross @ alpha)[:, 0], self.spread * var.sqrt()


x, x_test = latin_hypercube(N_RUNS, DIM), latin_hypercube(N_TEST, DIM)
truth = simulator(x_test)
gp = Surrogate(x, simulator(x))
opt = torch.optim.Adam(gp.parameters(), lr=0.05)

for it in range(1, 151):
    opt.zero_grad()
    loss = gp.neg_log_likelihood() / N_RUNS
    loss.backward()
    opt.step()
    if it % 30 == 0:
        mean, _ = gp.predict(x_test)
        rmse = (mean - truth).square().mean().sqrt().item()
        print(f"iteration {it:3d}  nll per run {loss.item():.4f}  test RMSE {rmse:.2e}")

print("length scales", "  ".join(f"{s:.3f}" for s in gp.log_scale.exp().tolist()))
'''
