NAME = "Fits an exact Gaussian process with a spatial and a habitat kernel to abundance at survey sites and predicts at new sites."
FAULT = None
CURE = None
KIND = None
LOOKS = "A Cholesky factorisation and an explicit inverse of an n x n matrix in every iteration, in float64, look like repeated work at too high a precision; but the kernel's parameters change in each iteration, the inverse gives the gradient of the log-determinant (written by hand) more cheaply than autograd through the factor, and the nearly singular kernel needs float64."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(40)
torch.set_default_dtype(torch.float64)

N, N_NEW = 1250, 400


def landscape(n):
    """coordinates in km and three smooth habitat layers"""
    xy = torch.rand(n, 2) * 50
    elev = torch.sin(xy[:, 0] / 9) + 0.5 * torch.cos(xy[:, 1] / 6)
    wet = torch.cos((xy[:, 0] + xy[:, 1]) / 14)
    cover = torch.sigmoid(elev - wet + 0.3 * torch.randn(n))
    return xy, torch.stack([elev, wet, cover], 1)


def true_log_abundance(xy, hab):
    return 1.2 * torch.exp(-(hab[:, 0] - 0.4) ** 2 / 0.3) + 0.6 * hab[:, 2] + 0.5 * torch.sin(xy[:, 0] / 5) * torch.sin(xy[:, 1] / 7)


class SpeciesGP:
    def __init__(self, xy, hab, y):
        self.xy, self.hab = xy, hab
        self.mean = y.mean()
        self.y = y - self.mean
        self.dist2 = torch.cdist(xy, xy) ** 2
        self.hab2 = torch.cdist(hab, hab) ** 2
        # log of: spatial variance, squared range, habitat variance, habitat width, noise variance
        self.theta = torch.tensor([-1.0, 4.0, -1.0, 0.0, -14.5], requires_grad=True)

    def kernels(self, dist, hab2):
        s2, ell, h2, width, _ = self.theta.exp()
        return torch.mul(dist, -1 / ell).exp_().mul_(s2), torch.mul(hab2, -0.5 / width).exp_().mul_(h2)

    def factor(self):
        K1, K2 = self.kernels(self.dist2, self.hab2)
        A = K1 + K2
        A.diagonal().add_(self.theta[4].exp() + 1e-8)
        L = torch.linalg.cholesky(A)
        alpha = torch.cholesky_solve(self.y[:, None], L)[:, 0]
        return K1, K2, L, alpha

    @torch.no_grad()
    def step(self, opt):
        K1, K2, L, alpha = self.factor()
        nll = 0.5 * self.y @ alpha + L.diagonal().log().sum() + 0.5 * len(self.y) * np.log(2 * np.pi)
        _, ell, _, width, noise = self.theta.exp()
        G = torch.cholesky_inverse(L).addr_(alpha, alpha, alpha=-1.0)
        K1.mul_(G)
        K2.mul_(G)
        self.theta.grad = 0.5 * torch.stack([
            K1.sum(), torch.dot(K1.view(-1), self.dist2.view(-1)) / ell,
            K2.sum(), torch.dot(K2.view(-1), self.hab2.view(-1)) / (2 * width),
            G.diagonal().sum() * noise])
        opt.step()
        return nll.item()

    def fit(self, steps):
        opt = torch.optim.Adam([self.theta], lr=0.08)
        for it in range(steps):
            nll = self.step(opt)
            if it % 10 == 0:
                print(f"iter {it:3d}  nll {nll:.3f}")
        return nll

    @torch.no_grad()
    def predict(self, xy, hab):
        _, _, L, alpha = self.factor()
        Ks = sum(self.kernels(torch.cdist(xy, self.xy) ** 2, torch.cdist(hab, self.hab) ** 2))
        v = torch.linalg.solve_triangular(L, Ks.T, upper=False)
        s2, _, h2, _, noise = self.theta.exp()
        return self.mean + Ks @ alpha, s2 + h2 + noise - (v * v).sum(0)


xy, hab = landscape(N + N_NEW)
f = true_log_abundance(xy, hab)
y = f + 0.0005 * torch.randn(N + N_NEW)

gp = SpeciesGP(xy[:N], hab[:N], y[:N])
print("final nll", round(gp.fit(60), 3))
names = ["s2", "range", "h2", "width", "noise"]
print("  ".join(f"{n} {v:.3f}" for n, v in zip(names, gp.theta.exp().tolist())))

mu, var = gp.predict(xy[N:], hab[N:])
resid = y[N:] - mu
cover = (resid.abs() < 1.96 * var.sqrt()).double().mean()
print(f"test rmse {resid.pow(2).mean().sqrt():.4f}, baseline {y[N:].std():.4f}, 95% coverage {cover:.3f}")
'''
