# float64 is needed: the check is a relative energy error of about 1e-8, well under what float32
# can represent, and close encounters lose digits; the matrix distance is computed directly
# because the mm shortcut cancels.

NAME = 'g23_star_cluster'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'Everything is in double precision; float32 would halve the time, and all pairs are computed in every step.'

GOOD = r'''
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(30)
torch.set_default_dtype(torch.float64)

N, EPS, DT, STEPS = 420, 0.02, 5e-4, 4400


def plummer(n):
    """positions and velocities of a Plummer sphere (virial units, G = M = 1)"""
    r = (torch.rand(n).clamp(0.01, 0.98) ** (-2 / 3) - 1).rsqrt()
    direction = torch.nn.functional.normalize(torch.randn(n, 3), dim=1)
    x = r[:, None] * direction
    v_esc = math.sqrt(2) * (1 + r * r) ** -0.25
    q = torch.distributions.Beta(1.5, 4.5).sample((n,)).sqrt()
    v = (q * v_esc)[:, None] * torch.nn.functional.normalize(torch.randn(n, 3), dim=1)
    return x - x.mean(0), v - v.mean(0)


x, v = plummer(N)
m = torch.full((N,), 1.0 / N)


def inv_dist(x):
    d = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    return d.square_().add_(EPS ** 2).rsqrt_()


def acceleration(x):
    u = inv_dist(x)
    w = u * u * u * m
    return w @ x - w.sum(1, keepdim=True) * x


def energy(x, v):
    u = inv_dist(x)
    u.fill_diagonal_(0)
    return 0.5 * (m * v.square().sum(1)).sum() - 0.5 * m @ u @ m


e0 = energy(x, v).item()
a = acceleration(x)
for s in range(1, STEPS + 1):       # kick - drift - kick
    v = v + 0.5 * DT * a
    x = x + DT * v
    a = acceleration(x)
    v = v + 0.5 * DT * a
    if s % 1100 == 0:
        e = energy(x, v).item()
        print(f"t = {s * DT:.2f}  dE/E = {(e - e0) / abs(e0):+.2e}  half-mass radius {x.norm(dim=1).median().item():.4f}")

print("centre of mass drift", f"{(m @ x).norm().item():.1e}")
torch.set_default_dtype(torch.float32)
'''
