NAME = 'Monte Carlo price of a down-and-out barrier option under local volatility'
FAULT = 'the paths are simulated one by one with scalar tensors in a Python loop'
CURE = 'step all paths together as one vector, looping over time only'
KIND = 'time'
FAULT_LINES = ['payoffs = torch.stack([simulate_path(z) for z in Z])', 's = s * torch.exp((r - 0.5 * sig ** 2) * dt + sig * dt ** 0.5 * zt)', 'alive = alive & (s > barrier)', 'for zt in z:', 'sig = local_vol(s)', 'return 0.2 + 0.1 * torch.tanh((s0 - s) / 40.0)']
FAULT_CALLS = ['simulate_path', 'torch.exp', 'Tensor.__mul__', 'Tensor.mul', 'local_vol', 'torch.tanh']
FAULTY = '''
import torch

torch.manual_seed(30)
s0, strike, barrier, r, T, steps = 100.0, 105.0, 80.0, 0.02, 1.0, 50
dt = T / steps
N_PATHS = 3000


def local_vol(s):
    return 0.2 + 0.1 * torch.tanh((s0 - s) / 40.0)


def simulate_path(z):
    s = torch.tensor(s0)
    alive = torch.tensor(True)
    for zt in z:
        sig = local_vol(s)
        s = s * torch.exp((r - 0.5 * sig ** 2) * dt + sig * dt ** 0.5 * zt)
        alive = alive & (s > barrier)
    return (s - strike).clamp(min=0) * alive


Z = torch.randn(N_PATHS, steps)
payoffs = torch.stack([simulate_path(z) for z in Z])
disc = torch.exp(torch.tensor(-r * T))
price = disc * payoffs.mean()
err = disc * payoffs.std() / N_PATHS ** 0.5
print(f"down-and-out call: {price.item():.4f} +- {err.item():.4f}")
'''
CURED = '''
import torch

torch.manual_seed(30)
s0, strike, barrier, r, T, steps = 100.0, 105.0, 80.0, 0.02, 1.0, 50
dt = T / steps
N_PATHS = 3000


def local_vol(s):
    return 0.2 + 0.1 * torch.tanh((s0 - s) / 40.0)


def simulate_path(z):
    s = torch.full((z.size(1),), s0)
    alive = torch.ones(z.size(1), dtype=torch.bool)
    for zt in z:
        sig = local_vol(s)
        s = s * torch.exp((r - 0.5 * sig ** 2) * dt + sig * dt ** 0.5 * zt)
        alive = alive & (s > barrier)
    return (s - strike).clamp(min=0) * alive


Z = torch.randn(N_PATHS, steps)
payoffs = simulate_path(Z.T.contiguous())
disc = torch.exp(torch.tensor(-r * T))
price = disc * payoffs.mean()
err = disc * payoffs.std() / N_PATHS ** 0.5
print(f"down-and-out call: {price.item():.4f} +- {err.item():.4f}")
'''
