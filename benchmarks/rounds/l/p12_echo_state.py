NAME = 'Predicts a chaotic series with an echo state network and a ridge readout.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch

torch.set_num_threads(1)
torch.manual_seed(120)

units, n_series, steps, warm = 1600, 32, 1250, 100


def lorenz(n, count, dt=0.02):
    s = torch.randn(n, 3)
    path = torch.empty(count, n, 3)
    for t in range(count):
        x, y, z = s.unbind(1)
        s = s + dt * torch.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], 1)
        path[t] = s
    return path / 20


data = lorenz(n_series, steps + 201)[200:]
u, target = data[:-1], data[1:]

W = torch.randn(units, units)
W = W * (0.95 / units ** 0.5)
W_in = torch.randn(3, units) * 0.4
leak = 0.6


@torch.inference_mode()
def drive(u):
    x = torch.zeros(u.shape[1], units)
    states = u @ W_in
    for t in range(len(u)):
        x = x.lerp(torch.addmm(states[t], x, W).tanh_(), leak)
        states[t] = x
    return states


states = drive(u)
split = 600
H, Y = states[warm:split].reshape(-1, units), target[warm:split].reshape(-1, 3)
Ht, Yt = states[split:].reshape(-1, units), target[split:].reshape(-1, 3)

gram, cross = H.T @ H, H.T @ Y
scores = {}
for ridge in (1e-2, 1e-1, 1.0):
    readout = torch.linalg.solve(gram + ridge * torch.eye(units), cross)
    scores[ridge] = (Ht @ readout - Yt).pow(2).mean().sqrt().item()
print({k: round(v, 3) for k, v in scores.items()}, f"mean |x| {states[-1].abs().mean().item():.4f}")
"""
