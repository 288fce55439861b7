NAME = "Fits the length scales of a Gaussian process to fine-dust readings of reference stations and predicts a map with uncertainties."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Everything runs in float64 and the covariance matrix is factorised anew in each step, which looks like a costly dtype and repeated work, but in float32 the smooth kernel's matrix is not positive definite at this noise level and the matrix changes with the parameters in each step."
GOOD = r'''
import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(25)
rng = np.random.default_rng(25)
DT = torch.float64

# ---- readings: east, north (in units of 10 km), hour of the day (scaled) -------------
n_stations, n_hours = 50, 18
place = rng.uniform(0, 4, (n_stations, 2))
hours = np.linspace(0, 2, n_hours)
coords = np.array([(e, n, h) for e, n in place for h in hours])


def pm25(c):
    traffic = 9 * np.exp(-((c[:, 0] - 1.5) ** 2 + (c[:, 1] - 2.2) ** 2) / 1.6)
    rush = 1 + 0.5 * np.cos(2 * np.pi * (c[:, 2] - 0.4))
    inversion = 4 * np.sin(0.8 * c[:, 1] + 0.6 * c[:, 2])
    return 14 + traffic * rush + inversion


y_raw = pm25(coords) + 0.001 * rng.standard_normal(len(coords))
mean, scale = y_raw.mean(), y_raw.std()
X = torch.tensor(coords, dtype=DT)
y = torch.tensor((y_raw - mean) / scale, dtype=DT)

grid_e, grid_n = np.meshgrid(np.linspace(0, 4, 16), np.linspace(0, 4, 16))
grid = np.column_stack([grid_e.ravel(), grid_n.ravel(), np.full(grid_e.size, 0.9)])
Xg = torch.tensor(grid, dtype=DT)


def squared_gaps(A, B):
    """One matrix of squared differences for space, one for time."""
    space = torch.cdist(A[:, :2], B[:, :2], compute_mode="donot_use_mm_for_euclid_dist") ** 2
    time = (A[:, 2:] - B[:, 2:].T) ** 2
    return space, time


class Kriging:
    def __init__(self, X, y):
        self.X, self.y = X, y
        self.gaps = squared_gaps(X, X)
        # log of: signal, length in space, length in time, noise
        self.theta = torch.tensor([0.0, 0.0, -0.5, math.log(0.0006)], dtype=DT, requires_grad=True)

    def cov(self, gaps):
        signal, ls, lt, _ = self.theta
        space, time = gaps
        return torch.exp(2 * signal - space * (0.5 * torch.exp(-2 * ls)) - time * (0.5 * torch.exp(-2 * lt)))

    def factor(self):
        K = self.cov(self.gaps)
        K = K + torch.diag_embed(torch.exp(2 * self.theta[3]).expand(len(self.y)))
        return torch.linalg.cholesky(K)

    def neg_log_lik(self):
        L = self.factor()
        a = torch.linalg.solve_triangular(L, self.y[:, None], upper=False)
        return 0.5 * a.square().sum() + L.diagonal().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)

    def fit(self, steps=56, lr=0.06):
        opt = torch.optim.Adam([self.theta], lr=lr)
        for s in range(steps):
            opt.zero_grad()
            nll = self.neg_log_lik()
            nll.backward()
            opt.step()
            if s % 14 == 13:
                print(f"step {s + 1}: nll {nll.item():.1f}")

    @torch.no_grad()
    def predict(self, Xg):
        L = self.factor()
        Kg = self.cov(squared_gaps(self.X, Xg))
        v = torch.linalg.solve_triangular(L, Kg, upper=False)
        a = torch.linalg.solve_triangular(L, self.y[:, None], upper=False)
        var = torch.exp(2 * self.theta[0]) - v.square().sum(0)
        return (v.T @ a).squeeze(1), var.clamp(min=0).sqrt()


gp = Kriging(X, y)
gp.fit()
mu, sd = gp.predict(Xg)
truth = pm25(grid)
error = np.abs(mu.numpy() * scale + mean - truth)
print("signal, lengths, noise:", [round(v, 3) for v in gp.theta.exp().tolist()])
print(f"map error {error.mean():.3f} ug/m3, mean sd {sd.mean().item() * scale:.3f} ug/m3")
'''
