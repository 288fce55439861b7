NAME = 'Integrates a cluster of gravitating bodies with an adaptive Dormand-Prince integrator and checks energy drift.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'The .item() per step looks like needless synchronisation in a Python loop, but the error estimate must reach Python at every step because it decides on acceptance and the next step size.'
GOOD = r"""
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)

# 48 bodies on perturbed circular orbits about a heavy centre
n = 48
radius = 1 + 2 * torch.rand(n)
phase = 2 * torch.pi * torch.rand(n)
pos = torch.stack([radius * phase.cos(), radius * phase.sin(), 0.05 * torch.randn(n)], 1)
vel = torch.stack([-phase.sin(), phase.cos(), torch.zeros(n)], 1) / radius.sqrt()[:, None]
mass = torch.full((n,), 2e-4)
pos = torch.cat([torch.zeros(1, 3), pos])
vel = torch.cat([torch.zeros(1, 3), vel + 0.02 * torch.randn(n, 3)])
mass = torch.cat([torch.ones(1), mass])
SOFT = 0.02 ** 2


def deriv(s):
    x, v = s[0], s[1]
    d = x[None] - x[:, None]
    inv = (d.pow(2).sum(-1) + SOFT).pow(-1.5)
    acc = torch.einsum('ij,ijk->ik', inv * mass[None], d)
    return torch.stack([v, acc])


def energy(s):
    x, v = s[0], s[1]
    dist = ((x[None] - x[:, None]).pow(2).sum(-1) + SOFT).sqrt()
    pair = mass[:, None] * mass[None] / dist
    return (0.5 * mass * v.pow(2).sum(1)).sum() - pair.triu(1).sum()


A = [[1 / 5],
     [3 / 40, 9 / 40],
     [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
RTOL, ATOL = 1e-8, 1e-10

state = torch.stack([pos, vel])
e0 = energy(state)
t, dt, t_end = 0.0, 1e-2, 190.0
k1 = deriv(state)
accepted = rejected = 0
times, drift, steps = [], [], []
while t < t_end:
    dt = min(dt, t_end - t)
    ks = [k1]
    for row in A:
        y = state + dt * sum(a * k for a, k in zip(row, ks) if a)
        ks.append(deriv(y))
    err = dt * sum(c * k for c, k in zip(E, ks) if c)
    scale = ATOL + RTOL * torch.maximum(state.abs(), y.abs())
    norm = (err / scale).pow(2).mean().sqrt().item()
    if norm <= 1:
        t += dt
        state, k1 = y, ks[-1]          # first-same-as-last
        accepted += 1
        times.append(t)
        steps.append(dt)
        if accepted % 20 == 0:
            drift.append(((energy(state) - e0) / e0).abs().item())
    else:
        rejected += 1
    dt *= min(5.0, max(0.2, 0.9 * (norm + 1e-12) ** -0.2))

print(f'accepted {accepted}, rejected {rejected}, smallest step {min(steps):.2e}')
print(f'largest relative energy drift {max(drift):.2e}')
fig, ax = plt.subplots(1, 2, figsize=(9, 4))
ax[0].scatter(state[0, :, 0], state[0, :, 1], s=6)
ax[0].set_aspect('equal')
ax[1].semilogy(times, steps)
ax[1].set_xlabel('t')
ax[1].set_ylabel('step size')
plt.show()
"""
