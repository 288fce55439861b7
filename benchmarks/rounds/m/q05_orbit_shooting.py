NAME = 'Fits a launch velocity by differentiating through a leapfrog simulation of a spacecraft between planets (shooting method).'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import math
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

MU = 4 * math.pi ** 2
BODIES = torch.tensor([1.0, 3.0e-6, 3.2e-7, 9.5e-4]) * MU
RADII = torch.tensor([0.0, 1.0, 1.524, 5.203])
PHASE = torch.tensor([0.0, 0.0, 0.78, 2.1])
STEPS, T_END = 700, 0.7085
DT = T_END / STEPS
SOFT = 1e-8


def planet_track():
    t = torch.arange(STEPS + 1) * DT
    omega = torch.where(RADII > 0, (MU / RADII.clamp(min=1e-9) ** 3).sqrt(), torch.zeros(4))
    angle = PHASE + t[:, None] * omega
    return RADII[None, :, None] * torch.stack([angle.cos(), angle.sin()], -1)


def acceleration(pos, planets):
    d = planets - pos
    r2 = (d * d).sum(-1) + SOFT
    return (BODIES / (r2 * r2.sqrt())) @ d


def fly(v0, start, track):
    pos, vel = start, v0
    acc = acceleration(pos, track[0])
    closest = []
    for k in range(1, STEPS + 1):
        vel = vel + 0.5 * DT * acc
        pos = pos + DT * vel
        acc = acceleration(pos, track[k])
        vel = vel + 0.5 * DT * acc
        if k > STEPS - 40:
            closest.append((pos - track[k, 2]).square().sum())
    return pos, vel, torch.stack(closest)


def energy(pos, vel, planets):
    d = planets - pos
    r = ((d * d).sum(-1) + SOFT).sqrt()
    return 0.5 * vel.square().sum() - (BODIES / r).sum()


track = planet_track()
start = track[0, 1] + torch.tensor([0.01, 0.0])
v = torch.tensor([0.15, 7.2], requires_grad=True)

loss_log, damp = [], 0.6
for it in range(28):
    pos, vel, closest = fly(v, start, track)
    miss = pos - track[-1, 2]
    loss = miss.square().sum()
    rows = []
    for comp in range(2):
        (g,) = torch.autograd.grad(miss[comp], v, retain_graph=comp == 0)
        rows.append(g)
    J = torch.stack(rows)
    loss_log.append(loss.item())
    with torch.no_grad():
        step = torch.linalg.lstsq(J, miss.detach()[:, None]).solution[:, 0]
        size = step.norm().item()
        v -= damp * min(1.0, 0.5 / size) * step
    if it % 4 == 3:
        print(f"iteration {it + 1:2d}: miss {math.sqrt(loss_log[-1]):.3e} AU  step {size:.3e}")

with torch.no_grad():
    pos, vel, closest = fly(v, start, track)
    drift = energy(pos, vel, track[-1]) - energy(start, v, track[0])
print(f"launch velocity {v[0].item():.6f}, {v[1].item():.6f} AU/yr")
print(f"arrival miss {(pos - track[-1, 2]).norm().item():.3e} AU, closest {closest.min().sqrt().item():.3e}, energy change {drift.item():.5f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 5.87 s (5.79, 5.95). Peak RSS 253 MB. Change tried: float32 instead of float64: 6.46 s (6.48, 6.43), gain -10.0%, peak RSS 253 MB.'
