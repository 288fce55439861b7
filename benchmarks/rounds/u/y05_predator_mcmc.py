NAME = 'Infers the four rates of a Lotka-Volterra model from noisy counts with many parallel random-walk Metropolis chains.'
FAULT = 'The log posterior of the present state is computed again in every Metropolis step, though it is known from the step in which that state was accepted.'
CURE = 'Carry the log posterior of the present state along and update it where a proposal is accepted.'
KIND = 'time'
FAULT_LINES = ['log_ratio = log_posterior(proposal) - log_posterior(theta)']
FAULT_CALLS = ['log_posterior', 'solve', 'rates']

FAULTY = r'''
import math

import numpy as np
import pandas as pd
import torch

torch.set_num_threads(1)
torch.manual_seed(8)
torch.set_default_dtype(torch.float64)

CHAINS, STEPS, WARMUP = 48, 1100, 400
T_END, N_OBS, SUB = 12.0, 24, 3
TRUE = torch.tensor([0.9, 0.4, 0.8, 0.25])
START = torch.tensor([2.0, 1.5])


def rates(state, p):
    prey, pred = state[..., 0], state[..., 1]
    return torch.stack([prey * (p[..., 0] - p[..., 1] * pred),
                        pred * (p[..., 3] * prey - p[..., 2])], dim=-1)


def solve(p):
    """Classic RK4; returns the states at the observation times, shape (chains, N_OBS, 2)."""
    h = T_END / (N_OBS * SUB)
    state = START.expand(p.shape[0], 2)
    seen = []
    for _ in range(N_OBS):
        for _ in range(SUB):
            k1 = rates(state, p)
            k2 = rates(state + 0.5 * h * k1, p)
            k3 = rates(state + 0.5 * h * k2, p)
            k4 = rates(state + h * k3, p)
            state = state + h / 6 * (k1 + 2 * (k2 + k3) + k4)
        seen.append(state)
    return torch.stack(seen, dim=1)


clean = solve(TRUE[None])[0]
data = clean * torch.exp(0.15 * torch.randn(N_OBS, 2))
log_data = data.log()

PRIOR_MEAN = torch.tensor([0.8, 0.5, 0.8, 0.3]).log()
PRIOR_SD = 0.6
NOISE = 0.15


def log_posterior(theta):
    path = solve(theta.exp())
    miss = (log_data - path.clamp_min(1e-9).log()) / NOISE
    loglik = -0.5 * miss.square().sum((1, 2))
    logprior = -0.5 * ((theta - PRIOR_MEAN) / PRIOR_SD).square().sum(1)
    out = loglik + logprior
    return torch.where(torch.isfinite(out), out, torch.full_like(out, -math.inf))


def rhat(draws):
    """Gelman-Rubin statistic; draws has the shape (steps, chains, parameters)."""
    n = draws.shape[0]
    within = draws.var(0).mean(0)
    between = draws.mean(0).var(0)
    return ((n - 1) / n + between / within).sqrt()


@torch.no_grad()
def metropolis():
    theta = PRIOR_MEAN + 0.1 * torch.randn(CHAINS, 4)
    width = 0.08
    kept, accepted = [], 0.0
    for step in range(STEPS):
        proposal = theta + width * torch.randn_like(theta)
        log_ratio = log_posterior(proposal) - log_posterior(theta)
        take = torch.rand(CHAINS).log() < log_ratio
        theta = torch.where(take[:, None], proposal, theta)
        rate = take.double().mean().item()
        if step < WARMUP:
            width *= math.exp(0.05 * (rate - 0.3))
        else:
            kept.append(theta)
            accepted += rate
    return torch.stack(kept), accepted / (STEPS - WARMUP), width


draws, rate, width = metropolis()
flat = draws.flatten(0, 1).exp().numpy()
summary = pd.DataFrame({
    "true": TRUE.numpy(), "mean": flat.mean(0), "sd": flat.std(0),
    "q05": np.quantile(flat, 0.05, axis=0), "q95": np.quantile(flat, 0.95, axis=0),
    "rhat": rhat(draws).numpy()}, index=["birth", "eaten", "death", "growth"])
print(summary.round(3))
print(f"acceptance {rate:.3f}, final width {width:.4f}")
'''

CURED = r'''
import math

import numpy as np
import pandas as pd
import torch

torch.set_num_threads(1)
torch.manual_seed(8)
torch.set_default_dtype(torch.float64)

CHAINS, STEPS, WARMUP = 48, 1100, 400
T_END, N_OBS, SUB = 12.0, 24, 3
TRUE = torch.tensor([0.9, 0.4, 0.8, 0.25])
START = torch.tensor([2.0, 1.5])


def rates(state, p):
    prey, pred = state[..., 0], state[..., 1]
    return torch.stack([prey * (p[..., 0] - p[..., 1] * pred),
                        pred * (p[..., 3] * prey - p[..., 2])], dim=-1)


def solve(p):
    """Classic RK4; returns the states at the observation times, shape (chains, N_OBS, 2)."""
    h = T_END / (N_OBS * SUB)
    state = START.expand(p.shape[0], 2)
    seen = []
    for _ in range(N_OBS):
        for _ in range(SUB):
            k1 = rates(state, p)
            k2 = rates(state + 0.5 * h * k1, p)
            k3 = rates(state + 0.5 * h * k2, p)
            k4 = rates(state + h * k3, p)
            state = state + h / 6 * (k1 + 2 * (k2 + k3) + k4)
        seen.append(state)
    return torch.stack(seen, dim=1)


clean = solve(TRUE[None])[0]
data = clean * torch.exp(0.15 * torch.randn(N_OBS, 2))
log_data = data.log()

PRIOR_MEAN = torch.tensor([0.8, 0.5, 0.8, 0.3]).log()
PRIOR_SD = 0.6
NOISE = 0.15


def log_posterior(theta):
    path = solve(theta.exp())
    miss = (log_data - path.clamp_min(1e-9).log()) / NOISE
    loglik = -0.5 * miss.square().sum((1, 2))
    logprior = -0.5 * ((theta - PRIOR_MEAN) / PRIOR_SD).square().sum(1)
    out = loglik + logprior
    return torch.where(torch.isfinite(out), out, torch.full_like(out, -math.inf))


def rhat(draws):
    """Gelman-Rubin statistic; draws has the shape (steps, chains, parameters)."""
    n = draws.shape[0]
    within = draws.var(0).mean(0)
    between = draws.mean(0).var(0)
    return ((n - 1) / n + between / within).sqrt()


@torch.no_grad()
def metropolis():
    theta = PRIOR_MEAN + 0.1 * torch.randn(CHAINS, 4)
    current = log_posterior(theta)
    width = 0.08
    kept, accepted = [], 0.0
    for step in range(STEPS):
        proposal = theta + width * torch.randn_like(theta)
        candidate = log_posterior(proposal)
        take = torch.rand(CHAINS).log() < candidate - current
        current = torch.where(take, candidate, current)
        theta = torch.where(take[:, None], proposal, theta)
        rate = take.double().mean().item()
        if step < WARMUP:
            width *= math.exp(0.05 * (rate - 0.3))
        else:
            kept.append(theta)
            accepted += rate
    return torch.stack(kept), accepted / (STEPS - WARMUP), width


draws, rate, width = metropolis()
flat = draws.flatten(0, 1).exp().numpy()
summary = pd.DataFrame({
    "true": TRUE.numpy(), "mean": flat.mean(0), "sd": flat.std(0),
    "q05": np.quantile(flat, 0.05, axis=0), "q95": np.quantile(flat, 0.95, axis=0),
    "rhat": rhat(draws).numpy()}, index=["birth", "eaten", "death", "growth"])
print(summary.round(3))
print(f"acceptance {rate:.3f}, final width {width:.4f}")
'''
