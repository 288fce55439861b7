NAME = 'Recovering an initial smoke field through a differentiable simulation'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'The state is never detached, so memory grows with every simulated step, as in a forgotten graph, but the gradient with respect to the initial field needs the whole chain.'
GOOD = r"""import math

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(67)

N, STEPS, DT = 96, 60, 0.6
yy, xx = torch.meshgrid(torch.arange(N).float(), torch.arange(N).float(), indexing="ij")
cy = cx = (N - 1) / 2
swirl = torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * 22.0 ** 2))
vel_x = -(yy - cy) * 0.05 * swirl + 0.12
vel_y = (xx - cx) * 0.05 * swirl


def to_grid(y, x):
    return torch.stack([2 * x / (N - 1) - 1, 2 * y / (N - 1) - 1], -1).unsqueeze(0)


back = to_grid(yy - DT * vel_y, xx - DT * vel_x)
kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]).view(1, 1, 3, 3)


def step(rho):
    moved = F.grid_sample(rho, back, mode="bilinear", padding_mode="border", align_corners=True)
    lap = F.conv2d(F.pad(moved, (1, 1, 1, 1), mode="replicate"), kernel)
    return moved + 0.04 * DT * lap


def simulate(rho, watch):
    seen = []
    for k in range(STEPS):
        rho = step(rho)
        if (k + 1) % 15 == 0:
            seen.append(rho[0, 0, watch[0], watch[1]])
    return rho, torch.stack(seen)


truth = torch.zeros(1, 1, N, N)
for y, x, s, a in [(30, 40, 5, 1.0), (60, 55, 7, 0.7), (48, 24, 4, 0.9)]:
    truth += a * torch.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * s ** 2))

sensors = torch.randint(4, N - 4, (2, 1400))
with torch.no_grad():
    final_true, observed = simulate(truth, sensors)
    observed = observed + 0.002 * torch.randn_like(observed)

latent = torch.full((1, 1, N, N), -3.0, requires_grad=True)
opt = torch.optim.Adam([latent], lr=0.25)


def smoothness(f):
    return (f[..., 1:] - f[..., :-1]).pow(2).mean() + (f[..., 1:, :] - f[..., :-1, :]).pow(2).mean()


for it in range(1, 241):
    guess = F.softplus(latent)
    final, seen = simulate(guess, sensors)
    misfit = (seen - observed).pow(2).mean()
    loss = misfit + 0.02 * smoothness(guess)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        rel = ((guess - truth).norm() / truth.norm()).item()
        print(f"iter {it:3d}  misfit {misfit.item():.3e}  relative error of the start {rel:.3f}")

with torch.no_grad():
    final, _ = simulate(F.softplus(latent), sensors)
print("relative error of the final state", round(((final - final_true).norm() / final_true.norm()).item(), 4))
print("mass", round(F.softplus(latent).sum().item(), 1), "true", round(truth.sum().item(), 1))
"""
