NAME = 'Metropolis sampling of a Bayesian logistic regression with a correlated Gaussian prior'
FAULT = 'multivariate_normal.logpdf(w, mean, cov) is called at each proposal; SciPy checks and eigendecomposes the same covariance matrix every time'
CURE = 'Freeze the distribution once (prior = multivariate_normal(mean, cov)) and call prior.logpdf(w)'
KIND = 'time'
FAULT_LINES = ['lp = multivariate_normal.logpdf(w, prior_mean, prior_cov)']
FAULT_CALLS = ['multivariate_normal.logpdf', 'log_posterior', 'eigh', '_PSD']
FAULTY = r"""
import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import multivariate_normal

torch.set_num_threads(1)
torch.manual_seed(1)
rng = np.random.default_rng(1)

# credit applications: neighbouring features are correlated, so are their effects
d, n = 60, 1500
pos = np.arange(d)
prior_cov = 0.25 * np.exp(-np.abs(pos[:, None] - pos[None, :]) / 6.0)
prior_mean = np.zeros(d)
w_true = rng.multivariate_normal(prior_mean, prior_cov)
X = torch.from_numpy(rng.normal(size=(n, d)).astype(np.float32))
y = (torch.rand(n) < torch.sigmoid(X @ torch.from_numpy(w_true).float())).float()
X_test = torch.from_numpy(rng.normal(size=(800, d)).astype(np.float32))
p_test = torch.sigmoid(X_test @ torch.from_numpy(w_true).float())


@torch.no_grad()
def log_likelihood(w):
    logit = X @ torch.from_numpy(w).float()
    return -F.binary_cross_entropy_with_logits(logit, y, reduction="sum").item()


def log_posterior(w):
    lp = multivariate_normal.logpdf(w, prior_mean, prior_cov)
    return lp + log_likelihood(w)


# ------------------------------------------------ MAP estimate as the start
prec = torch.from_numpy(np.linalg.inv(prior_cov)).float()
w = torch.zeros(d, requires_grad=True)
opt = torch.optim.LBFGS([w], lr=1.0, max_iter=60)


def closure():
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(X @ w, y, reduction="sum") + 0.5 * w @ prec @ w
    loss.backward()
    return loss


opt.step(closure)
w_map = w.detach().double().numpy()
print(f"MAP: log posterior {log_posterior(w_map):.3f}")

# Laplace covariance shapes the proposal
with torch.no_grad():
    p = torch.sigmoid(X @ w)
    Hess = (X * (p * (1 - p)).unsqueeze(1)).T @ X + prec
chol = np.linalg.cholesky(np.linalg.inv(Hess.double().numpy()))
scale = 2.38 / np.sqrt(d)


def metropolis(n_iter, seed):
    r = np.random.default_rng(seed)
    cur = w_map + chol @ r.normal(size=d)
    cur_lp = log_posterior(cur)
    keep, accepted = [], 0
    for it in range(n_iter):
        prop = cur + scale * (chol @ r.normal(size=d))
        prop_lp = log_posterior(prop)
        if np.log(r.random()) < prop_lp - cur_lp:
            cur, cur_lp = prop, prop_lp
            accepted += 1
        if it >= n_iter // 4 and it % 5 == 0:
            keep.append(cur)
    return np.array(keep), accepted / n_iter


chains = []
for seed in range(3):
    draws, rate = metropolis(2600, seed)
    chains.append(draws)
    print(f"chain {seed}: acceptance {rate:.3f}  mean |w| {np.abs(draws).mean():.4f}")

means = np.array([c.mean(0) for c in chains])
within = np.mean([c.var(0, ddof=1) for c in chains], axis=0)
rhat = np.sqrt(1 + means.var(0, ddof=1) / within)
W = torch.from_numpy(np.concatenate(chains)).float()
pred = torch.sigmoid(X_test @ W.T).mean(1)
print(f"worst R-hat {rhat.max():.3f}; predictive error {(pred - p_test).abs().mean():.4f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import multivariate_normal

torch.set_num_threads(1)
torch.manual_seed(1)
rng = np.random.default_rng(1)

# credit applications: neighbouring features are correlated, so are their effects
d, n = 60, 1500
pos = np.arange(d)
prior_cov = 0.25 * np.exp(-np.abs(pos[:, None] - pos[None, :]) / 6.0)
prior_mean = np.zeros(d)
w_true = rng.multivariate_normal(prior_mean, prior_cov)
X = torch.from_numpy(rng.normal(size=(n, d)).astype(np.float32))
y = (torch.rand(n) < torch.sigmoid(X @ torch.from_numpy(w_true).float())).float()
X_test = torch.from_numpy(rng.normal(size=(800, d)).astype(np.float32))
p_test = torch.sigmoid(X_test @ torch.from_numpy(w_true).float())


@torch.no_grad()
def log_likelihood(w):
    logit = X @ torch.from_numpy(w).float()
    return -F.binary_cross_entropy_with_logits(logit, y, reduction="sum").item()


prior = multivariate_normal(prior_mean, prior_cov)


def log_posterior(w):
    lp = prior.logpdf(w)
    return lp + log_likelihood(w)


# ------------------------------------------------ MAP estimate as the start
prec = torch.from_numpy(np.linalg.inv(prior_cov)).float()
w = torch.zeros(d, requires_grad=True)
opt = torch.optim.LBFGS([w], lr=1.0, max_iter=60)


def closure():
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(X @ w, y, reduction="sum") + 0.5 * w @ prec @ w
    loss.backward()
    return loss


opt.step(closure)
w_map = w.detach().double().numpy()
print(f"MAP: log posterior {log_posterior(w_map):.3f}")

# Laplace covariance shapes the proposal
with torch.no_grad():
    p = torch.sigmoid(X @ w)
    Hess = (X * (p * (1 - p)).unsqueeze(1)).T @ X + prec
chol = np.linalg.cholesky(np.linalg.inv(Hess.double().numpy()))
scale = 2.38 / np.sqrt(d)


def metropolis(n_iter, seed):
    r = np.random.default_rng(seed)
    cur = w_map + chol @ r.normal(size=d)
    cur_lp = log_posterior(cur)
    keep, accepted = [], 0
    for it in range(n_iter):
        prop = cur + scale * (chol @ r.normal(size=d))
        prop_lp = log_posterior(prop)
        if np.log(r.random()) < prop_lp - cur_lp:
            cur, cur_lp = prop, prop_lp
            accepted += 1
        if it >= n_iter // 4 and it % 5 == 0:
            keep.append(cur)
    return np.array(keep), accepted / n_iter


chains = []
for seed in range(3):
    draws, rate = metropolis(2600, seed)
    chains.append(draws)
    print(f"chain {seed}: acceptance {rate:.3f}  mean |w| {np.abs(draws).mean():.4f}")

means = np.array([c.mean(0) for c in chains])
within = np.mean([c.var(0, ddof=1) for c in chains], axis=0)
rhat = np.sqrt(1 + means.var(0, ddof=1) / within)
W = torch.from_numpy(np.concatenate(chains)).float()
pred = torch.sigmoid(X_test @ W.T).mean(1)
print(f"worst R-hat {rhat.max():.3f}; predictive error {(pred - p_test).abs().mean():.4f}")
"""
