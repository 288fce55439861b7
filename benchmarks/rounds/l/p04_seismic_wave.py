NAME = 'Simulates a seismic pulse in a layered ground with finite differences and records it at receivers.'
FAULT = 'The velocity model comes from NumPy as float64, and so the whole wave field is computed in double precision from the first step on.'
CURE = 'Convert the velocity model to float32 once, where it is made a tensor.'
KIND = 'time'
FAULT_LINES = [
    'c2 = torch.from_numpy(velocity ** 2)',
    'nxt = 2 * u - prev + (dt / dx) ** 2 * c2 * laplacian(u)',
    'nxt = nxt * sponge',
    'return (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)',
    'p = F.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]',
]
FAULT_CALLS = [
    'laplacian',
    'torch.add',
    'torch.mul',
    'torch.sub',
    'aten::add',
    'aten::mul',
    'aten::sub',
    'F.pad',
    'torch.from_numpy',
]

FAULTY = r"""
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
np.random.seed(0)
torch.manual_seed(0)

nz, nx, dx, dt = 560, 700, 10.0, 1.0e-3

# layered ground with a slow lens and some roughness
depth = np.linspace(0, 1, nz)[:, None]
velocity = 1500 + 2000 * depth + 300 * (depth > 0.4) + 0 * np.linspace(0, 1, nx)[None, :]
zz, xx = np.mgrid[0:nz, 0:nx]
velocity[((zz - 240) / 60.0) ** 2 + ((xx - 430) / 110.0) ** 2 < 1] -= 500
velocity += 20 * np.random.randn(nz, nx)

c2 = torch.from_numpy(velocity ** 2)
edge = torch.minimum(torch.arange(nx), torch.arange(nx).flip(0)).clamp(max=40).float() / 40
sponge = (1 - 0.05 * (1 - edge) ** 2).expand(nz, nx).contiguous()


def laplacian(u):
    p = F.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)


def ricker(t, f=12.0, t0=0.12):
    a = (np.pi * f * (t - t0)) ** 2
    return (1 - 2 * a) * np.exp(-a)


u = torch.zeros(nz, nx)
prev = torch.zeros(nz, nx)
receivers = torch.arange(40, nx - 40, 20)
n_steps = 850
record = torch.zeros(n_steps, len(receivers))
for it in range(n_steps):
    nxt = 2 * u - prev + (dt / dx) ** 2 * c2 * laplacian(u)
    nxt = nxt * sponge
    nxt[12, 200] += ricker(it * dt)
    u, prev = nxt, u
    record[it] = u[6, receivers]

traces = record
arrival = (traces.abs() > 0.05 * traces.abs().max()).float().argmax(0)
print(f"energy {traces.pow(2).sum().item():.3f}, peak {traces.abs().max().item():.4f}, first arrivals {arrival[::8].tolist()}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
np.random.seed(0)
torch.manual_seed(0)

nz, nx, dx, dt = 560, 700, 10.0, 1.0e-3

# layered ground with a slow lens and some roughness
depth = np.linspace(0, 1, nz)[:, None]
velocity = 1500 + 2000 * depth + 300 * (depth > 0.4) + 0 * np.linspace(0, 1, nx)[None, :]
zz, xx = np.mgrid[0:nz, 0:nx]
velocity[((zz - 240) / 60.0) ** 2 + ((xx - 430) / 110.0) ** 2 < 1] -= 500
velocity += 20 * np.random.randn(nz, nx)

c2 = torch.from_numpy(velocity ** 2).float()
edge = torch.minimum(torch.arange(nx), torch.arange(nx).flip(0)).clamp(max=40).float() / 40
sponge = (1 - 0.05 * (1 - edge) ** 2).expand(nz, nx).contiguous()


def laplacian(u):
    p = F.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)


def ricker(t, f=12.0, t0=0.12):
    a = (np.pi * f * (t - t0)) ** 2
    return (1 - 2 * a) * np.exp(-a)


u = torch.zeros(nz, nx)
prev = torch.zeros(nz, nx)
receivers = torch.arange(40, nx - 40, 20)
n_steps = 850
record = torch.zeros(n_steps, len(receivers))
for it in range(n_steps):
    nxt = 2 * u - prev + (dt / dx) ** 2 * c2 * laplacian(u)
    nxt = nxt * sponge
    nxt[12, 200] += ricker(it * dt)
    u, prev = nxt, u
    record[it] = u[6, receivers]

traces = record
arrival = (traces.abs() > 0.05 * traces.abs().max()).float().argmax(0)
print(f"energy {traces.pow(2).sum().item():.3f}, peak {traces.abs().max().item():.4f}, first arrivals {arrival[::8].tolist()}")
"""
