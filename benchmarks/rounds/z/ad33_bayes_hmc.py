NAME = "Samples the posterior of a Bayesian logistic regression with several Hamiltonian Monte Carlo chains."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The gradient is evaluated over all the data at every leapfrog step and every draw is copied into a list: each position is new so nothing can be reused (the gradient at the end of an accepted path is kept and the potential is computed only at path ends), and the draws are the small result that is wanted."
GOOD = r'''
import math
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

# churn-like data: correlated covariates, a few real effects
n, d, chains = 20_000, 96, 32
mix = torch.randn(d, d) / math.sqrt(d)
X = torch.randn(n, d) @ (0.6 * torch.eye(d) + 0.4 * mix)
X[:, 0] = 1.0
truth = torch.zeros(d)
truth[:8] = torch.tensor([-0.8, 0.9, -0.7, 0.5, 0.4, -0.3, 0.25, 0.2])
y = (torch.rand(n) < torch.sigmoid(X @ truth)).float()

# rows signed by their label, so that one product gives all (negative) margins
A = (1 - 2 * y)[:, None] * X
prior_sd = 1.5


def gradient(theta):
    """Gradient of the negative log posterior; theta has one column per chain."""
    margin = A @ theta
    return theta / prior_sd ** 2 + A.T @ torch.sigmoid(margin), margin


def potential(theta, margin):
    nll = F.softplus(margin).sum(dim=0)
    return nll + 0.5 * (theta / prior_sd).pow(2).sum(dim=0)


def hmc_step(theta, u, g, eps, n_leap):
    r = torch.randn_like(theta)
    h0 = u + 0.5 * r.pow(2).sum(dim=0)
    q, grad = theta, g
    r = r - 0.5 * eps * grad
    for k in range(n_leap):
        q = q + eps * r
        grad, margin = gradient(q)
        r = r - (eps if k < n_leap - 1 else 0.5 * eps) * grad
    u_new = potential(q, margin)
    h1 = u_new + 0.5 * r.pow(2).sum(dim=0)
    accept = torch.rand(theta.shape[1]) < torch.exp(h0 - h1)
    theta = torch.where(accept, q, theta)
    u = torch.where(accept, u_new, u)
    g = torch.where(accept, grad, g)
    return theta, u, g, accept.float().mean().item()


theta = 0.1 * torch.randn(d, chains)
g, margin = gradient(theta)
u = potential(theta, margin)
eps, n_leap = 0.01, 8
n_warm, n_keep = 60, 120
draws = []
for it in range(n_warm + n_keep):
    theta, u, g, acc = hmc_step(theta, u, g, eps * (0.8 + 0.4 * torch.rand(1).item()), n_leap)
    if it < n_warm:
        eps *= math.exp(0.25 * (acc - 0.8))
    else:
        draws.append(theta.clone())
    if (it + 1) % 50 == 0:
        print(f"iteration {it + 1}: acceptance {acc:.2f}, step {eps:.4f}, potential {u.mean().item():.0f}")

S = torch.stack(draws)                      # draw, parameter, chain
within = S.var(dim=0).mean(dim=1)
between = S.mean(dim=0).var(dim=1)
rhat = torch.sqrt((within * (len(S) - 1) / len(S) + between) / within)
mean, sd = S.mean(dim=(0, 2)), S.std(dim=(0, 2))
print(f"largest R-hat {rhat.max().item():.2f}")
for k in range(4):
    print(f"beta[{k}] = {mean[k].item():.2f} +- {sd[k].item():.2f} (true {truth[k].item():.2f})")
cover = ((mean - truth).abs() < 2 * sd).float().mean().item()
print(f"true values within two sd: {cover:.2f}")
'''
