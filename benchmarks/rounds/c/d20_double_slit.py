NAME = 'd20_double_slit'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import math
import torch

torch.set_default_dtype(torch.float64)

n, L = 512, 40.0
dx = L / n
x = (torch.arange(n) - n // 2) * dx
X, Y = torch.meshgrid(x, x, indexing="ij")
kx = 2 * math.pi * torch.fft.fftfreq(n, d=dx)
K2 = kx[:, None] ** 2 + kx[None, :] ** 2

wall = (X.abs() < 0.5) & ~(((Y - 2.0).abs() < 0.6) | ((Y + 2.0).abs() < 0.6))
V = wall.double() * 200.0
dt = 0.0015

half_v = torch.exp(-0.5j * V * dt)
full_v = half_v * half_v
kin = torch.exp(-0.5j * K2 * dt)

psi = torch.exp(-((X + 8) ** 2 + Y ** 2) / 8 + 6j * X)
psi = psi / (psi.abs().pow(2).sum().sqrt() * dx)

right = []
psi.mul_(half_v)
for step in range(1000):
    psi = torch.fft.fft2(psi).mul_(kin)
    psi = torch.fft.ifft2(psi).mul_(full_v)
    if step % 200 == 199:
        right.append(float(psi[n // 2 + 8:].abs().pow(2).sum() * dx * dx))
psi.mul_(half_v.conj())

norm = float(psi.abs().pow(2).sum() * dx * dx)
print("transmitted", [round(v, 4) for v in right])
print("norm drift %.1e" % abs(norm - 1))
"""
