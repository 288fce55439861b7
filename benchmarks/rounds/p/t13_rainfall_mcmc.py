NAME = 'Samples a latent Gaussian field behind rain counts at stations by Metropolis-Hastings.'
FAULT = 'A MultivariateNormal with the same covariance is built (checked and factorised) for each evaluation of the prior.'
CURE = 'Build the distribution once, with mean zero, and evaluate it at field - level.'
KIND = 'time'
FAULT_LINES = [
    'prior = MultivariateNormal(level.expand(n), covariance_matrix=K)',
    'proposed = log_posterior(new_field, new_level)',
]
FAULT_CALLS = ['log_posterior', 'MultivariateNormal', '__init__', 'cholesky', 'linalg_cholesky', 'check']
FAULTY = r"""
import numpy as np
import torch
from torch.distributions import MultivariateNormal, Poisson, Normal

torch.set_num_threads(1)
torch.manual_seed(30)

n = 320
xy = torch.rand(n, 2) * 10
dist = torch.cdist(xy, xy)
K = 0.6 * torch.exp(-dist / 2.5) + 1e-3 * torch.eye(n)
L = torch.linalg.cholesky(K)
truth = 1.2 + L @ torch.randn(n)
rain = torch.poisson(truth.exp())


def log_posterior(field, level):
    prior = MultivariateNormal(level.expand(n), covariance_matrix=K)
    lp = prior.log_prob(field)
    lp = lp + Poisson(field.exp()).log_prob(rain).sum()
    return lp + Normal(0.0, 2.0).log_prob(level)


def run_chain(steps, step_size=0.06):
    level = torch.tensor(0.5)
    field = level + 0.1 * (L @ torch.randn(n))
    current = log_posterior(field, level)
    kept, levels, accepted = [], [], 0
    for i in range(steps):
        new_field = field + step_size * (L @ torch.randn(n))
        new_level = level + 0.05 * torch.randn(())
        proposed = log_posterior(new_field, new_level)
        if torch.rand(()).log() < proposed - current:
            field, level, current = new_field, new_level, proposed
            accepted += 1
        levels.append(level.item())
        if i >= steps // 2:
            kept.append(field)
    return torch.stack(kept), np.array(levels), accepted / steps


fields, levels, rate = run_chain(2500)
post = fields.mean(0)
print(f'acceptance {rate:.3f}')
print(f'level {levels[1250:].mean():.2f} +- {levels[1250:].std():.2f}')
print(f'correlation with the true field {np.corrcoef(post.numpy(), truth.numpy())[0, 1]:.2f}')
"""
CURED = r"""
import numpy as np
import torch
from torch.distributions import MultivariateNormal, Poisson, Normal

torch.set_num_threads(1)
torch.manual_seed(30)

n = 320
xy = torch.rand(n, 2) * 10
dist = torch.cdist(xy, xy)
K = 0.6 * torch.exp(-dist / 2.5) + 1e-3 * torch.eye(n)
L = torch.linalg.cholesky(K)
truth = 1.2 + L @ torch.randn(n)
rain = torch.poisson(truth.exp())


prior = MultivariateNormal(torch.zeros(n), covariance_matrix=K)


def log_posterior(field, level):
    lp = prior.log_prob(field - level)
    lp = lp + Poisson(field.exp()).log_prob(rain).sum()
    return lp + Normal(0.0, 2.0).log_prob(level)


def run_chain(steps, step_size=0.06):
    level = torch.tensor(0.5)
    field = level + 0.1 * (L @ torch.randn(n))
    current = log_posterior(field, level)
    kept, levels, accepted = [], [], 0
    for i in range(steps):
        new_field = field + step_size * (L @ torch.randn(n))
        new_level = level + 0.05 * torch.randn(())
        proposed = log_posterior(new_field, new_level)
        if torch.rand(()).log() < proposed - current:
            field, level, current = new_field, new_level, proposed
            accepted += 1
        levels.append(level.item())
        if i >= steps // 2:
            kept.append(field)
    return torch.stack(kept), np.array(levels), accepted / steps


fields, levels, rate = run_chain(2500)
post = fields.mean(0)
print(f'acceptance {rate:.3f}')
print(f'level {levels[1250:].mean():.2f} +- {levels[1250:].std():.2f}')
print(f'correlation with the true field {np.corrcoef(post.numpy(), truth.numpy())[0, 1]:.2f}')
"""
