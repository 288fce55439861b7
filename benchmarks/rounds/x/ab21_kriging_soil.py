NAME = "Fits a Gaussian-process (kriging) model to soil samples by maximum likelihood and predicts a map."
FAULT = None
CURE = None
KIND = None
LOOKS = "The covariance is built and factorised anew in each iteration and everything runs in float64: the kernel parameters change each step, so the factor cannot be reused, and the smooth kernel with a tiny nugget is not positive definite in float32."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(9)
rng = np.random.default_rng(9)

# --- soil moisture at random places of a 10 km square ---------------------
N = 900
sites = torch.from_numpy(rng.uniform(0, 10, (N, 2)))


def field(p):
    x, y = p[:, 0], p[:, 1]
    return torch.sin(0.9 * x) * torch.cos(0.7 * y) + 0.5 * torch.sin(0.5 * (x + y)) + 0.1 * x


z = field(sites) + 0.001 * torch.randn(N)
z_mean = z.mean()
zc = z - z_mean
D2 = torch.cdist(sites, sites) ** 2


class Kriging:
    def __init__(self):
        self.raw = torch.tensor([0.0, 0.0, -13.0], requires_grad=True)  # log sill, log range, log nugget

    def cov(self, d2):
        sill, rng_, _ = self.raw.exp()
        return sill * torch.exp(d2 * (-0.5 / rng_ ** 2))

    def factor(self):
        K = self.cov(D2)
        K.diagonal().add_(self.raw[2].exp())
        return torch.linalg.cholesky(K)

    def nll(self):
        L = self.factor()
        a = torch.linalg.solve_triangular(L, zc[:, None], upper=False)
        return 0.5 * a.pow(2).sum() + L.diagonal().log().sum() + 0.5 * N * math.log(2 * math.pi)

    def fit(self, steps):
        opt = torch.optim.Adam([self.raw], lr=0.08)
        for k in range(steps):
            opt.zero_grad()
            loss = self.nll()
            loss.backward()
            opt.step()
            if k % 20 == 19:
                sill, range_, nugget = self.raw.detach().exp().tolist()
                print(f"step {k + 1}: nll {loss.item():.1f}  sill {sill:.3f}  range {range_:.3f}  nugget {nugget:.2e}")

    @torch.no_grad()
    def predict(self, where):
        L = self.factor()
        k = self.cov(torch.cdist(where, sites) ** 2)
        w = torch.cholesky_solve(zc[:, None], L)
        half = torch.linalg.solve_triangular(L, k.T, upper=False)
        var = self.raw[0].exp() - half.pow(2).sum(0)
        return z_mean + (k @ w)[:, 0], var.clamp_min(0)


model = Kriging()
model.fit(60)

g = torch.linspace(0, 10, 40)
grid = torch.cartesian_prod(g, g)
mean, var = model.predict(grid)
err = mean - field(grid)
print(f"map: rmse {err.pow(2).mean().sqrt():.4f}  largest standard error {var.sqrt().max():.4f}")
print(f"share within two standard errors: {(err.abs() < 2 * var.sqrt()).double().mean():.2f}")
'''
