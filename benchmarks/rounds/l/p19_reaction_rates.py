NAME = 'Fits the rate constants of a reaction network to noisy concentration measurements.'
FAULT = 'scipy.optimize.minimize gets no gradient, and so it takes finite differences: one simulation more per parameter at every step.'
CURE = 'Return the gradient by autograd along with the loss and pass jac=True.'
KIND = 'time'
FAULT_LINES = [
    'fit = minimize(objective, start, method="BFGS", options={"gtol": 1e-5})',
    'def objective(p):',
    'return misfit(torch.from_numpy(p)).item()',
]
FAULT_CALLS = [
    'scipy.optimize.minimize',
    'minimize',
    'objective',
    'misfit',
    'simulate',
    'approx_derivative',
    '_minimize_bfgs',
]

FAULTY = r"""
import numpy as np
import torch
from scipy.optimize import minimize

torch.set_num_threads(1)
torch.manual_seed(9)

n_species, n_steps, dt = 12, 200, 0.03
src = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 6, 9])
dst = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 11])
n_rates = len(src)
stoich = torch.zeros(n_rates, n_species, dtype=torch.float64)
stoich[torch.arange(n_rates), src] = -1
stoich[torch.arange(n_rates), dst] = 1
initial = torch.rand(24, n_species, dtype=torch.float64)


def simulate(log_k):
    k = log_k.exp()

    def rhs(c):
        return (c[:, src] * k) @ stoich

    c = initial
    path = []
    for _ in range(n_steps):
        k1 = rhs(c)
        k2 = rhs(c + dt / 2 * k1)
        k3 = rhs(c + dt / 2 * k2)
        k4 = rhs(c + dt * k3)
        c = c + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(c)
    return torch.stack(path)


true_k = torch.empty(n_rates, dtype=torch.float64).uniform_(-1.2, 0.7)
with torch.no_grad():
    data = simulate(true_k)
    data = data + 0.02 * torch.randn_like(data)


def misfit(log_k):
    return (simulate(log_k) - data).pow(2).mean() * 1e3 + 1e-3 * log_k.pow(2).sum()


def objective(p):
    return misfit(torch.from_numpy(p)).item()


start = np.zeros(n_rates)
fit = minimize(objective, start, method="BFGS", options={"gtol": 1e-5})
err = np.abs(fit.x - true_k.numpy())
print(f"misfit {fit.fun:.4f}, mean error of log k {err.mean():.3f}, worst {err.max():.3f}")
"""

CURED = r"""
import numpy as np
import torch
from scipy.optimize import minimize

torch.set_num_threads(1)
torch.manual_seed(9)

n_species, n_steps, dt = 12, 200, 0.03
src = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 6, 9])
dst = torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 11])
n_rates = len(src)
stoich = torch.zeros(n_rates, n_species, dtype=torch.float64)
stoich[torch.arange(n_rates), src] = -1
stoich[torch.arange(n_rates), dst] = 1
initial = torch.rand(24, n_species, dtype=torch.float64)


def simulate(log_k):
    k = log_k.exp()

    def rhs(c):
        return (c[:, src] * k) @ stoich

    c = initial
    path = []
    for _ in range(n_steps):
        k1 = rhs(c)
        k2 = rhs(c + dt / 2 * k1)
        k3 = rhs(c + dt / 2 * k2)
        k4 = rhs(c + dt * k3)
        c = c + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(c)
    return torch.stack(path)


true_k = torch.empty(n_rates, dtype=torch.float64).uniform_(-1.2, 0.7)
with torch.no_grad():
    data = simulate(true_k)
    data = data + 0.02 * torch.randn_like(data)


def misfit(log_k):
    return (simulate(log_k) - data).pow(2).mean() * 1e3 + 1e-3 * log_k.pow(2).sum()


def objective(p):
    log_k = torch.from_numpy(p).requires_grad_()
    loss = misfit(log_k)
    loss.backward()
    return loss.item(), log_k.grad.numpy()


start = np.zeros(n_rates)
fit = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-5})
err = np.abs(fit.x - true_k.numpy())
print(f"misfit {fit.fun:.4f}, mean error of log k {err.mean():.3f}, worst {err.max():.3f}")
"""
