NAME = "An exact Gaussian process is fitted to scattered soil measurements by its marginal likelihood and predicts means and bands on a grid."
FAULT = "For the predictive variance the full covariance between all grid points is built and multiplied out, of which only the diagonal is used."
CURE = "Take the prior variance minus the column sums of v squared."
KIND = "time"
FAULT_LINES = ["cov = self.kernel(xs, xs) - v.T @ v", "var = cov.diagonal() + self.log_noise.exp()"]
FAULT_CALLS = ["predict", "kernel", "mm", "matmul", "cdist", "exp", "diagonal", "sub"]
FAULTY = r'''
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
torch.set_default_dtype(torch.float64)


def field(xy):
    """synthetic nitrate surface, mg/kg, centred"""
    x, y = xy[:, 0], xy[:, 1]
    return 2.0 * torch.sin(1.7 * x) * torch.cos(1.1 * y) + 0.6 * x - 0.3 * y + 0.5 * torch.sin(4 * (x + y))


def sites(n):
    return torch.rand(n, 2) * torch.tensor([5.0, 4.0])


class ExactGP(nn.Module):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.mu = x, y.mean()
        self.y = y - self.mu
        self.log_ls = nn.Parameter(torch.zeros(2))
        self.log_sf = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.5))

    def kernel(self, a, b):
        d = torch.cdist(a / self.log_ls.exp(), b / self.log_ls.exp(),
                        compute_mode="use_mm_for_euclid_dist").clamp_min(1e-8)
        s3d = math.sqrt(3.0) * d
        return self.log_sf.exp() * (1.0 + s3d) * torch.exp(-s3d)

    def chol(self):
        n = len(self.x)
        K = self.kernel(self.x, self.x) + (self.log_noise.exp() + 1e-8) * torch.eye(n)
        return torch.linalg.cholesky(K)

    def nll(self):
        L = self.chol()
        z = torch.linalg.solve_triangular(L, self.y[:, None], upper=False)
        return 0.5 * z.pow(2).sum() + L.diagonal().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)

    @torch.no_grad()
    def condition(self):
        self.L = self.chol()
        self.alpha = torch.cholesky_solve(self.y[:, None], self.L)

    @torch.no_grad()
    def predict(self, xs):
        ks = self.kernel(self.x, xs)
        mean = (ks.T @ self.alpha).squeeze(1) + self.mu
        v = torch.linalg.solve_triangular(self.L, ks, upper=False)
        cov = self.kernel(xs, xs) - v.T @ v
        var = cov.diagonal() + self.log_noise.exp()
        return mean, var.clamp_min(1e-9)


n = 700
x_train = sites(n)
y_train = field(x_train) + 0.35 * torch.randn(n)

gp = ExactGP(x_train, y_train)
opt = torch.optim.Adam(gp.parameters(), lr=0.08)
for it in range(40):
    opt.zero_grad()
    loss = gp.nll()
    loss.backward()
    opt.step()
    if it % 13 == 0:
        print(f"iter {it:3d} nll/n {loss.item() / n:.4f}")
print("lengthscales", [round(v, 3) for v in gp.log_ls.exp().tolist()],
      "noise sd", round(math.exp(0.5 * gp.log_noise.item()), 3))

gp.condition()
gx, gy = torch.meshgrid(torch.linspace(0, 5, 110), torch.linspace(0, 4, 90), indexing="ij")
grid = torch.stack([gx.reshape(-1), gy.reshape(-1)], dim=1)

means, sds = [], []
for strip in grid.split(4950):
    m, v = gp.predict(strip)
    means.append(m)
    sds.append(v.sqrt())
mean, sd = torch.cat(means), torch.cat(sds)

truth = field(grid)
noisy = truth + 0.35 * torch.randn(len(grid))
cover = ((noisy - mean).abs() < 1.96 * sd).double().mean()
print(f"grid RMSE {(mean - truth).pow(2).mean().sqrt().item():.4f}")
print(f"95% band covers {cover.item():.4f}, mean width {2 * 1.96 * sd.mean().item():.4f}")
top = sd.argsort(descending=True)[:3]
print("most uncertain places", [[round(c, 2) for c in grid[i].tolist()] for i in top])
'''
CURED = (FAULTY.replace("cov = self.kernel(xs, xs) - v.T @ v", "latent = self.log_sf.exp() - v.pow(2).sum(0)")
         .replace("var = cov.diagonal() + self", "var = latent + self"))
