NAME = "Samples a log-Gaussian Cox process on a spatial grid with several MALA chains and reports posterior summaries."
FAULT = "The Gaussian prior is built from its fixed covariance matrix at every density evaluation, so the same Cholesky factor is computed again and again."
CURE = "Build the MultivariateNormal once before sampling and only call log_prob in the loop."
KIND = "time"
FAULT_LINES = ["prior = MultivariateNormal(mean, covariance_matrix=cov)", "log_p = log_posterior(f)", "lp_new, grad_new = value_and_grad(prop)", "return prior.log_prob(f) + loglik"]
FAULT_CALLS = ["MultivariateNormal", "cholesky", "cholesky_ex", "linalg_cholesky", "__init__", "log_posterior"]
_T = r'''
import math
import torch
from torch.distributions import MultivariateNormal

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(8)

SIDE = 18
N_CHAINS, N_STEPS, BURN = 32, 1300, 500

axis = torch.linspace(0, 1, SIDE)
sites = torch.cartesian_prod(axis, axis)
dist = torch.cdist(sites, sites)
cov = 0.8 * torch.exp(-dist / 0.2) + 1e-6 * torch.eye(len(sites))
mean = torch.full((len(sites),), math.log(3.0))

truth = MultivariateNormal(mean, covariance_matrix=cov).sample()
counts = torch.poisson(truth.exp())
log_fact = torch.lgamma(counts + 1).sum()
@@A@@

def log_posterior(f):
@@B@@    loglik = (counts * f - f.exp()).sum(-1) - log_fact
    return prior.log_prob(f) + loglik


def value_and_grad(f):
    f = f.detach().requires_grad_(True)
    log_p = log_posterior(f)
    (grad,) = torch.autograd.grad(log_p.sum(), f)
    return log_p.detach(), grad


def log_q(to, frm, grad, eps):
    return -((to - frm - 0.5 * eps ** 2 * grad) ** 2).sum(-1) / (2 * eps ** 2)


f = mean + 0.1 * torch.randn(N_CHAINS, len(sites))
lp, grad = value_and_grad(f)
eps = 0.1
kept_mean = torch.zeros(N_CHAINS, len(sites))
kept_sq = torch.zeros(N_CHAINS, len(sites))
accepted = torch.zeros(N_CHAINS)
n_kept = 0

for step in range(N_STEPS):
    prop = f + 0.5 * eps ** 2 * grad + eps * torch.randn_like(f)
    lp_new, grad_new = value_and_grad(prop)
    log_alpha = lp_new - lp + log_q(f, prop, grad_new, eps) - log_q(prop, f, grad, eps)
    ok = torch.rand(N_CHAINS).log() < log_alpha
    f = torch.where(ok[:, None], prop, f)
    grad = torch.where(ok[:, None], grad_new, grad)
    lp = torch.where(ok, lp_new, lp)
    if step < BURN:
        eps *= math.exp(0.05 * (ok.double().mean().item() - 0.57))
        continue
    accepted += ok
    kept_mean += f
    kept_sq += f ** 2
    n_kept += 1

chain_mean = kept_mean / n_kept
chain_var = kept_sq / n_kept - chain_mean ** 2
between = chain_mean.var(0)
within = chain_var.mean(0)
r_hat = ((within + between) / within).sqrt()
post = chain_mean.mean(0)

print(f"step size {eps:.4f}  acceptance {(accepted / n_kept).mean():.3f}")
print(f"posterior mean intensity {post.exp().mean():.3f}  data mean {counts.mean():.3f}")
print(f"correlation with truth {torch.corrcoef(torch.stack([post, truth]))[0, 1]:.3f}")
print(f"median R-hat {r_hat.median():.3f}")
'''
FAULTY = _T.replace("@@A@@", "").replace("@@B@@", "    prior = MultivariateNormal(mean, covariance_matrix=cov)\n")
CURED = _T.replace("@@A@@", "prior = MultivariateNormal(mean, covariance_matrix=cov)\n").replace("@@B@@", "")
