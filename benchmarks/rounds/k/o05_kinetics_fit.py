NAME = 'Fits four rate constants of a reaction model to measured curves with Levenberg-Marquardt.'
FAULT = 'The 48x4 Jacobian is formed in reverse mode, one backward pass through the whole simulation per residual, although there are only four parameters.'
CURE = 'Form the Jacobian in forward mode (torch.func.jacfwd), four tangents instead of 48 backward passes.'
KIND = 'time'
FAULT_LINES = ['J = jacobian(residual_of, p)', 'residual_of = lambda q: (model.simulate(q) - observed).reshape(-1)']
FAULT_CALLS = ['jacobian', 'simulate', 'backward', 'grad']
FAULTY = r"""
import torch
from torch.autograd.functional import jacobian

torch.set_num_threads(1)
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


class ReactionModel:
    '''Concentration curves of a four-step reaction; two instruments sample them 24 times.'''

    def __init__(self, n_samples=24, substeps=8):
        self.t = torch.linspace(0.0, 6.0, n_samples)
        self.substeps = substeps
        self.mix = torch.rand(2, 4) + 0.1

    def rates(self, c, k):
        r1, r2 = k[0] * c[0], k[1] * c[1] * c[1]
        r3, r4 = k[2] * c[2], k[3] * c[3]
        return torch.stack([-r1 + 0.1 * r4, r1 - r2, r2 - r3, r3 - r4])

    def simulate(self, log_k):
        k = log_k.exp()
        c = torch.tensor([1.0, 0.0, 0.0, 0.0])
        h = float(self.t[1] - self.t[0]) / self.substeps
        states = [c]
        for _ in range(len(self.t) - 1):
            for _ in range(self.substeps):
                mid = c + 0.5 * h * self.rates(c, k)
                c = c + h * self.rates(mid, k)
            states.append(c)
        return torch.stack(states) @ self.mix.T


def fit(model, observed, guess, steps=6, damping=1e-2):
    '''Levenberg-Marquardt on the log rate constants.'''
    p = guess.clone()
    residual_of = lambda q: (model.simulate(q) - observed).reshape(-1)
    residual = residual_of(p)
    cost = residual.square().sum()
    for step in range(steps):
        J = jacobian(residual_of, p)
        H, g = J.T @ J, J.T @ residual
        delta = torch.linalg.solve(H + damping * torch.diag(H.diagonal()), -g)
        with torch.no_grad():
            trial = residual_of(p + delta)
        trial_cost = trial.square().sum()
        if trial_cost < cost:
            p, residual, cost = p + delta, trial, trial_cost
            damping *= 0.3
        else:
            damping *= 5.0
        print(f"  step {step} cost {cost.item():.5f} damping {damping:.1e}")
    covariance = torch.linalg.inv(H) * cost / (len(residual) - len(p))
    return p, covariance.diagonal().sqrt()


model = ReactionModel()
true = torch.tensor([0.8, 2.0, 0.6, 0.4]).log()
clean = model.simulate(true)
for replicate in range(1):
    noisy = clean + 0.01 * torch.randn_like(clean)
    print("replicate", replicate)
    fitted, err = fit(model, noisy, torch.zeros(4))
    for name, value, e, ref in zip("abcd", fitted.exp(), err, true.exp()):
        print(f"  k_{name} = {value:.3f} +- {e:.3f} (true {ref:.1f})")
torch.set_default_dtype(torch.float32)
"""
CURED = r"""
import torch
from torch.func import jacfwd

torch.set_num_threads(1)
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


class ReactionModel:
    '''Concentration curves of a four-step reaction; two instruments sample them 24 times.'''

    def __init__(self, n_samples=24, substeps=8):
        self.t = torch.linspace(0.0, 6.0, n_samples)
        self.substeps = substeps
        self.mix = torch.rand(2, 4) + 0.1

    def rates(self, c, k):
        r1, r2 = k[0] * c[0], k[1] * c[1] * c[1]
        r3, r4 = k[2] * c[2], k[3] * c[3]
        return torch.stack([-r1 + 0.1 * r4, r1 - r2, r2 - r3, r3 - r4])

    def simulate(self, log_k):
        k = log_k.exp()
        c = torch.tensor([1.0, 0.0, 0.0, 0.0])
        h = float(self.t[1] - self.t[0]) / self.substeps
        states = [c]
        for _ in range(len(self.t) - 1):
            for _ in range(self.substeps):
                mid = c + 0.5 * h * self.rates(c, k)
                c = c + h * self.rates(mid, k)
            states.append(c)
        return torch.stack(states) @ self.mix.T


def fit(model, observed, guess, steps=6, damping=1e-2):
    '''Levenberg-Marquardt on the log rate constants.'''
    p = guess.clone()
    residual_of = lambda q: (model.simulate(q) - observed).reshape(-1)
    residual = residual_of(p)
    cost = residual.square().sum()
    for step in range(steps):
        J = jacfwd(residual_of)(p)
        H, g = J.T @ J, J.T @ residual
        delta = torch.linalg.solve(H + damping * torch.diag(H.diagonal()), -g)
        with torch.no_grad():
            trial = residual_of(p + delta)
        trial_cost = trial.square().sum()
        if trial_cost < cost:
            p, residual, cost = p + delta, trial, trial_cost
            damping *= 0.3
        else:
            damping *= 5.0
        print(f"  step {step} cost {cost.item():.5f} damping {damping:.1e}")
    covariance = torch.linalg.inv(H) * cost / (len(residual) - len(p))
    return p, covariance.diagonal().sqrt()


model = ReactionModel()
true = torch.tensor([0.8, 2.0, 0.6, 0.4]).log()
clean = model.simulate(true)
for replicate in range(1):
    noisy = clean + 0.01 * torch.randn_like(clean)
    print("replicate", replicate)
    fitted, err = fit(model, noisy, torch.zeros(4))
    for name, value, e, ref in zip("abcd", fitted.exp(), err, true.exp()):
        print(f"  k_{name} = {value:.3f} +- {e:.3f} (true {ref:.1f})")
torch.set_default_dtype(torch.float32)
"""
