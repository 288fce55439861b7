NAME = 'h05_asteroid_orbits'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = "Everything is float64 and a Python loop makes thousands of small steps; but the steps depend on one another, the bodies are already vectorised, and the reported relative energy error (~1e-9, at most ~2e-8) is under float32's resolution, so double is needed."
GOOD = r'''
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)

# test particles between Mars and Jupiter, planets on circular orbits (AU, years)
GM_SUN = 4 * math.pi ** 2
PLANETS = [(1.0, 3.0e-6, 0.3), (1.524, 3.2e-7, 2.0), (5.203, 9.54e-4, 0.0), (9.58, 2.86e-4, 4.1)]
N = 8000

a = 2.0 + 1.6 * torch.rand(N)
ecc = 0.15 * torch.rand(N)
phase = 2 * math.pi * torch.rand(N)
peri = a * (1 - ecc)
speed = torch.sqrt(GM_SUN * (1 + ecc) / peri)
pos = torch.stack([peri * torch.cos(phase), peri * torch.sin(phase)], 1)
vel = torch.stack([-speed * torch.sin(phase), speed * torch.cos(phase)], 1)

def planet_positions(t):
    out = []
    for r, mass, ph in PLANETS:
        w = math.sqrt(GM_SUN / r ** 3)
        out.append((r * math.cos(w * t + ph), r * math.sin(w * t + ph)))
    return torch.tensor(out)

masses = torch.tensor([p[1] for p in PLANETS]) * GM_SUN

def sun_acc(p):
    r2 = (p * p).sum(1, keepdim=True)
    return -GM_SUN * p / (r2 * r2.sqrt())

def full_acc(p, t):
    d = planet_positions(t)[None] - p[:, None]
    r2 = (d * d).sum(-1) + 1e-8
    pert = (masses * r2.rsqrt() / r2)[..., None] * d
    return sun_acc(p) + pert.sum(1)

def energy(p, v):
    return 0.5 * (v * v).sum(1) - GM_SUN / p.norm(dim=1)

# 4th order Yoshida coefficients
c1 = 1.0 / (2 - 2 ** (1 / 3))
c0 = 1 - 2 * c1
weights = (c1, c0, c1)

def integrate(p, v, years, dt, perturbed=True):
    p, v, t = p.clone(), v.clone(), 0.0
    for _ in range(int(round(years / dt))):
        for w in weights:
            h = w * dt
            p = p + 0.5 * h * v
            acc = full_acc(p, t + 0.5 * h) if perturbed else sun_acc(p)
            v = v + h * acc
            p = p + 0.5 * h * v
            t += h
    return p, v

e0 = energy(pos, vel)

p, v = integrate(pos[:400], vel[:400], years=20, dt=0.008, perturbed=False)
drift = ((energy(p, v) - e0[:400]) / e0[:400]).abs()
print(f"integrator check, relative energy error: max {drift.max():.2e} median {drift.median():.2e}")

p, v = integrate(pos, vel, years=60, dt=0.03)
e1 = energy(p, v)
a1 = -GM_SUN / (2 * e1)
print(f"median |da| after 60 yr: {(a1 - a).abs().median():.5f} AU")

period_ratio = (5.203 / a) ** 1.5
for name, ratio in (("3:1", 3.0), ("5:2", 2.5), ("7:3", 7 / 3), ("2:1", 2.0)):
    near = (period_ratio - ratio).abs() < 0.02
    print(f"resonance {name}: {int(near.sum()):4d} bodies, mean |da| {(a1 - a)[near].abs().mean():.5f}")
print(f"escaped: {int((p.norm(dim=1) > 6).sum())}")
'''
