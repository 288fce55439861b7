NAME = "A Lee-Carter mortality model for many pension funds is fitted by maximum likelihood with L-BFGS and tested for a cohort effect by a likelihood ratio."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Everything runs in float64 and the closure recomputes the full-batch likelihood for every evaluation of L-BFGS; the likelihood ratio is a difference of some thousands between sums of the order of 1e9, which float32 does not resolve (tried: its line search stalls early and the ratio comes out a quarter too small), and L-BFGS needs each evaluation."
GOOD = r'''
import math
import numpy as np
import torch
from scipy.stats import chi2

torch.set_num_threads(1)
torch.manual_seed(36)
rng = np.random.default_rng(36)

FUNDS, AGES, YEARS = 68, 66, 48            # ages 30..95
age = np.arange(30, 30 + AGES)
year = np.arange(YEARS)
n_coh = AGES + YEARS - 1
coh_idx = torch.from_numpy(year[None, :] - np.arange(AGES)[:, None] + AGES - 1)


def simulate():
    a = -9.8 + 0.092 * (age - 30) + rng.normal(0, 0.15, size=(FUNDS, 1))
    b = np.exp(-((age - 62) / 28.0) ** 2)
    b = b / b.sum()
    k = -1.1 * year + np.cumsum(rng.normal(0, 1.2, size=(FUNDS, YEARS)), axis=1)
    k = k - k.mean(1, keepdims=True)
    g = 0.010 * np.sin(np.arange(n_coh) / 9.0)
    log_m = a[:, :, None] + b[None, :, None] * k[:, None, :] + g[coh_idx.numpy()][None]
    expo = 6e5 * np.exp(-0.5 * ((age - 55) / 22.0) ** 2)[None, :, None] * rng.uniform(0.5, 1.5, size=(FUNDS, 1, YEARS))
    return rng.poisson(expo * np.exp(log_m)).astype(float), expo


D_np, E_np = simulate()
D, logE = torch.from_numpy(D_np), torch.from_numpy(np.log(E_np))
D_flat = D.reshape(-1)
print(f"deaths {D.sum().item():.0f}, exposure {E_np.sum() / 1e6:.0f} million years")


class LeeCarter:
    def __init__(self, cohort, start=None):
        raw = torch.log((D.sum(2) + 0.5)) - torch.logsumexp(logE, dim=2)
        self.a = raw.clone().requires_grad_(True)
        self.b = torch.ones(AGES, dtype=torch.float64, requires_grad=True)
        trend = torch.linspace(0.4, -0.4, YEARS, dtype=torch.float64)
        self.k = trend.repeat(FUNDS, 1).requires_grad_(True)
        self.g = torch.zeros(n_coh, dtype=torch.float64, requires_grad=True)
        if start is not None:
            for mine, theirs in zip((self.a, self.b, self.k), (start.a, start.b, start.k)):
                mine.data.copy_(theirs.data)
        self.params = [self.a, self.b, self.k] + ([self.g] if cohort else [])
        self.cohort = cohort
        self.evals = 0

    def log_rate(self):
        eta = torch.addcmul(self.a[:, :, None], self.b[None, :, None], self.k[:, None, :])
        return eta + self.g[coh_idx] if self.cohort else eta

    def deviance_part(self):
        eta = self.log_rate() + logE
        return eta.exp().sum() - torch.dot(D_flat, eta.reshape(-1))

    def fit(self, rounds):
        opt = torch.optim.LBFGS(self.params, lr=1.0, max_iter=100, history_size=20,
                                tolerance_grad=1e-9, tolerance_change=1e-14, line_search_fn="strong_wolfe")
        scale = 1.0 / D.sum()

        def closure():
            opt.zero_grad()
            loss = self.deviance_part() * scale
            loss.backward()
            self.evals += 1
            return loss

        for _ in range(rounds):
            opt.step(closure)
        with torch.no_grad():
            return -self.deviance_part().item()


plain = LeeCarter(cohort=False)
ll0 = plain.fit(rounds=6)
print(f"Lee-Carter: log-likelihood {ll0:.1f} after {plain.evals} evaluations")
full = LeeCarter(cohort=True, start=plain)
ll1 = full.fit(rounds=6)
print(f"with cohorts: log-likelihood {ll1:.1f} after {full.evals} evaluations")

lr_stat = 2 * (ll1 - ll0)
dof = n_coh - 3
print(f"likelihood ratio {lr_stat:.0f} on {dof} degrees, p = {chi2.sf(lr_stat, dof):.2g}")

with torch.no_grad():
    k = full.k - full.k.mean(1, keepdim=True)
    drift = (k[:, -1] - k[:, 0]) / (YEARS - 1)
    scale_b = full.b.sum()
    m65 = torch.exp(full.log_rate()[:, 65 - 30, -1])
    ahead = torch.exp(full.b[65 - 30] * drift * 20)
print(f"mean drift {(drift * scale_b).mean().item():.3f}, mortality at 65 now {m65.mean().item():.5f}, "
      f"in 20 years {(m65 * ahead).mean().item():.5f}")
'''
