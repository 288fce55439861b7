NAME = 'Samples the posterior of a Bayesian logistic regression with an adaptive random-walk Metropolis sampler.'
FAULT = 'The log posterior of the current state is computed again in every iteration although it is known from the iteration that accepted it.'
CURE = 'Keep the log posterior of the current state and replace it when a proposal is accepted.'
KIND = 'time'
FAULT_LINES = ['log_ratio = self.log_posterior(proposal) - self.log_posterior(self.state)']
FAULT_CALLS = ['log_posterior', 'softplus', 'matmul']
FAULTY = r'''import math

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

N_ROWS, N_COLS = 40000, 24


def make_trial_data():
    x = torch.randn(N_ROWS, N_COLS)
    x[:, 0] = 1.0
    x[:, 5] = 0.6 * x[:, 4] + 0.8 * x[:, 5]
    beta = torch.randn(N_COLS) * 0.4
    y = torch.bernoulli(torch.sigmoid(x @ beta))
    return x, y, beta


class LogisticPosterior:
    def __init__(self, x, y, prior_scale=2.5):
        self.x = x
        self.xty = x.T @ y
        self.prior_scale = prior_scale

    def __call__(self, beta):
        fit = beta @ self.xty - F.softplus(self.x @ beta).sum()
        prior = -0.5 * (beta / self.prior_scale).square().sum()
        return (fit + prior).item()

    def map_estimate(self, steps=6):
        beta = torch.zeros(self.x.shape[1])
        for _ in range(steps):
            p = torch.sigmoid(self.x @ beta)
            grad = self.xty - self.x.T @ p - beta / self.prior_scale ** 2
            hess = (self.x * (p * (1 - p))[:, None]).T @ self.x
            hess.diagonal().add_(1 / self.prior_scale ** 2)
            beta = beta + torch.linalg.solve(hess, grad)
        return beta, torch.linalg.inv(hess)


class Metropolis:
    def __init__(self, log_posterior, start, cov):
        self.log_posterior = log_posterior
        self.state = start
        self.chol = torch.linalg.cholesky(cov)
        self.scale = 2.38 / math.sqrt(len(start))
        self.accepted = 0

    def step(self, i, adapt):
        proposal = self.state + self.scale * (self.chol @ torch.randn(len(self.state)))
        log_ratio = self.log_posterior(proposal) - self.log_posterior(self.state)
        accept = math.log(torch.rand(()).item() + 1e-12) < log_ratio
        if accept:
            self.state = proposal
            self.accepted += 1
        if adapt:
            self.scale *= math.exp((float(accept) - 0.234) / (i + 1) ** 0.6)
        return self.state

    def run(self, warmup, draws):
        for i in range(warmup):
            self.step(i, adapt=True)
        self.accepted = 0
        return torch.stack([self.step(i, adapt=False) for i in range(draws)])


x, y, beta_true = make_trial_data()
posterior = LogisticPosterior(x, y)
mode, cov = posterior.map_estimate()
sampler = Metropolis(posterior, mode, cov)
chain = sampler.run(warmup=3000, draws=15000)

low, high = torch.quantile(chain, torch.tensor([0.05, 0.95]), dim=0)
print(f"acceptance {sampler.accepted / len(chain):.3f}")
print(f"90% intervals cover {((low <= beta_true) & (beta_true <= high)).float().mean().item():.3f} of the coefficients")
for j in (0, 4, 5):
    print(f"beta[{j}]  true {beta_true[j].item():.3f}  mean {chain[:, j].mean().item():.3f}  sd {chain[:, j].std().item():.4f}")
'''
CURED = r'''import math

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

N_ROWS, N_COLS = 40000, 24


def make_trial_data():
    x = torch.randn(N_ROWS, N_COLS)
    x[:, 0] = 1.0
    x[:, 5] = 0.6 * x[:, 4] + 0.8 * x[:, 5]
    beta = torch.randn(N_COLS) * 0.4
    y = torch.bernoulli(torch.sigmoid(x @ beta))
    return x, y, beta


class LogisticPosterior:
    def __init__(self, x, y, prior_scale=2.5):
        self.x = x
        self.xty = x.T @ y
        self.prior_scale = prior_scale

    def __call__(self, beta):
        fit = beta @ self.xty - F.softplus(self.x @ beta).sum()
        prior = -0.5 * (beta / self.prior_scale).square().sum()
        return (fit + prior).item()

    def map_estimate(self, steps=6):
        beta = torch.zeros(self.x.shape[1])
        for _ in range(steps):
            p = torch.sigmoid(self.x @ beta)
            grad = self.xty - self.x.T @ p - beta / self.prior_scale ** 2
            hess = (self.x * (p * (1 - p))[:, None]).T @ self.x
            hess.diagonal().add_(1 / self.prior_scale ** 2)
            beta = beta + torch.linalg.solve(hess, grad)
        return beta, torch.linalg.inv(hess)


class Metropolis:
    def __init__(self, log_posterior, start, cov):
        self.log_posterior = log_posterior
        self.state = start
        self.current = log_posterior(start)
        self.chol = torch.linalg.cholesky(cov)
        self.scale = 2.38 / math.sqrt(len(start))
        self.accepted = 0

    def step(self, i, adapt):
        proposal = self.state + self.scale * (self.chol @ torch.randn(len(self.state)))
        candidate = self.log_posterior(proposal)
        log_ratio = candidate - self.current
        accept = math.log(torch.rand(()).item() + 1e-12) < log_ratio
        if accept:
            self.state = proposal
            self.current = candidate
            self.accepted += 1
        if adapt:
            self.scale *= math.exp((float(accept) - 0.234) / (i + 1) ** 0.6)
        return self.state

    def run(self, warmup, draws):
        for i in range(warmup):
            self.step(i, adapt=True)
        self.accepted = 0
        return torch.stack([self.step(i, adapt=False) for i in range(draws)])


x, y, beta_true = make_trial_data()
posterior = LogisticPosterior(x, y)
mode, cov = posterior.map_estimate()
sampler = Metropolis(posterior, mode, cov)
chain = sampler.run(warmup=3000, draws=15000)

low, high = torch.quantile(chain, torch.tensor([0.05, 0.95]), dim=0)
print(f"acceptance {sampler.accepted / len(chain):.3f}")
print(f"90% intervals cover {((low <= beta_true) & (beta_true <= high)).float().mean().item():.3f} of the coefficients")
for j in (0, 4, 5):
    print(f"beta[{j}]  true {beta_true[j].item():.3f}  mean {chain[:, j].mean().item():.3f}  sd {chain[:, j].std().item():.4f}")
'''
