NAME = 'h20_argon_md'
FAULT = 'The observables (potential energy over all pairs, pair-distance histogram, pressure virial) are computed at every time step though they are read only at each 50th.'
CURE = 'Compute the observables only at the steps that print/accumulate them.'
KIND = 'time'
FAULT_LINES = [
    '    epot, virial, hist = observables(pos)',
]
FAULT_CALLS = ['observables', 'torch.histc', 'aten::histc', 'aten::pow', 'aten::sqrt', 'pair_vectors', 'aten::round', 'aten::index']
FAULTY = r'''
import torch

torch.set_num_threads(1)
torch.manual_seed(0)

# Lennard-Jones argon in reduced units, periodic box, velocity Verlet + Langevin kick
N_SIDE = 7
N = N_SIDE ** 3
DENSITY, TEMP, DT, CUT = 0.7, 1.1, 0.004, 2.5
BOX = (N / DENSITY) ** (1 / 3)
STEPS, REPORT = 1600, 50

cells = torch.arange(N_SIDE) * (BOX / N_SIDE)
pos = torch.cartesian_prod(cells, cells, cells) + 0.05 * torch.randn(N, 3)
vel = torch.randn(N, 3) * TEMP ** 0.5
vel -= vel.mean(0)
iu, ju = torch.triu_indices(N, N, offset=1)

def pair_vectors(pos):
    d = pos[:, None] - pos[None]
    return d - BOX * torch.round(d / BOX)

def forces(pos):
    d = pair_vectors(pos)
    r2 = (d * d).sum(-1)
    r2.fill_diagonal_(1e6)
    inv2 = torch.where(r2 < CUT * CUT, 1.0 / r2, 0.0)
    inv6 = inv2 * inv2 * inv2
    mag = 24 * inv2 * inv6 * (2 * inv6 - 1)
    return torch.einsum('ij,ijk->ik', mag, d)

def observables(pos):
    d = pos[iu] - pos[ju]
    d = d - BOX * torch.round(d / BOX)
    r2 = (d * d).sum(-1)
    near = r2[r2 < CUT * CUT]
    inv6 = 1.0 / near ** 3
    epot = (4 * inv6 * (inv6 - 1)).sum()
    virial = (24 * inv6 * (2 * inv6 - 1)).sum()
    hist = torch.histc(r2.sqrt(), bins=80, min=0.0, max=BOX / 2)
    return epot, virial, hist

def radial_distribution(hist_sum, frames):
    edges = torch.linspace(0, BOX / 2, 81)
    shell = 4 / 3 * torch.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
    ideal = shell * DENSITY * N / 2
    centre = 0.5 * (edges[1:] + edges[:-1])
    return centre, hist_sum / frames / ideal

noise = torch.Generator().manual_seed(1)
f = forces(pos)
hist_sum, frames = torch.zeros(80), 0
trace = []
for step in range(1, STEPS + 1):
    vel = vel + 0.5 * DT * f
    pos = (pos + DT * vel) % BOX
    f = forces(pos)
    vel = vel + 0.5 * DT * f
    if step % 10 == 0:
        kick = torch.randn(vel.shape, generator=noise) * TEMP ** 0.5
        vel = 0.95 * vel + (1 - 0.95 ** 2) ** 0.5 * kick

    epot, virial, hist = observables(pos)
    if step % REPORT == 0:
        ekin = 0.5 * (vel * vel).sum()
        temp = 2 * ekin / (3 * N)
        pressure = DENSITY * temp + virial / (3 * BOX ** 3)
        trace.append((temp.item(), epot.item() / N, pressure.item()))
        if step > STEPS // 4:
            hist_sum += hist
            frames += 1
        if step % (8 * REPORT) == 0:
            t, e, p = trace[-1]
            print(f"step {step:5d}  T {t:.3f}  U/N {e:.3f}  P {p:.3f}")

late = torch.tensor(trace[5:])
print("mean T, U/N, P:", [round(v, 3) for v in late.mean(0).tolist()])
r, g = radial_distribution(hist_sum, frames)
peak = g.argmax()
print(f"g(r) peak {g[peak]:.2f} at r = {r[peak]:.2f}")
'''
CURED = r'''
import torch

torch.set_num_threads(1)
torch.manual_seed(0)

# Lennard-Jones argon in reduced units, periodic box, velocity Verlet + Langevin kick
N_SIDE = 7
N = N_SIDE ** 3
DENSITY, TEMP, DT, CUT = 0.7, 1.1, 0.004, 2.5
BOX = (N / DENSITY) ** (1 / 3)
STEPS, REPORT = 1600, 50

cells = torch.arange(N_SIDE) * (BOX / N_SIDE)
pos = torch.cartesian_prod(cells, cells, cells) + 0.05 * torch.randn(N, 3)
vel = torch.randn(N, 3) * TEMP ** 0.5
vel -= vel.mean(0)
iu, ju = torch.triu_indices(N, N, offset=1)

def pair_vectors(pos):
    d = pos[:, None] - pos[None]
    return d - BOX * torch.round(d / BOX)

def forces(pos):
    d = pair_vectors(pos)
    r2 = (d * d).sum(-1)
    r2.fill_diagonal_(1e6)
    inv2 = torch.where(r2 < CUT * CUT, 1.0 / r2, 0.0)
    inv6 = inv2 * inv2 * inv2
    mag = 24 * inv2 * inv6 * (2 * inv6 - 1)
    return torch.einsum('ij,ijk->ik', mag, d)

def observables(pos):
    d = pos[iu] - pos[ju]
    d = d - BOX * torch.round(d / BOX)
    r2 = (d * d).sum(-1)
    near = r2[r2 < CUT * CUT]
    inv6 = 1.0 / near ** 3
    epot = (4 * inv6 * (inv6 - 1)).sum()
    virial = (24 * inv6 * (2 * inv6 - 1)).sum()
    hist = torch.histc(r2.sqrt(), bins=80, min=0.0, max=BOX / 2)
    return epot, virial, hist

def radial_distribution(hist_sum, frames):
    edges = torch.linspace(0, BOX / 2, 81)
    shell = 4 / 3 * torch.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
    ideal = shell * DENSITY * N / 2
    centre = 0.5 * (edges[1:] + edges[:-1])
    return centre, hist_sum / frames / ideal

noise = torch.Generator().manual_seed(1)
f = forces(pos)
hist_sum, frames = torch.zeros(80), 0
trace = []
for step in range(1, STEPS + 1):
    vel = vel + 0.5 * DT * f
    pos = (pos + DT * vel) % BOX
    f = forces(pos)
    vel = vel + 0.5 * DT * f
    if step % 10 == 0:
        kick = torch.randn(vel.shape, generator=noise) * TEMP ** 0.5
        vel = 0.95 * vel + (1 - 0.95 ** 2) ** 0.5 * kick

    if step % REPORT == 0:
        epot, virial, hist = observables(pos)
        ekin = 0.5 * (vel * vel).sum()
        temp = 2 * ekin / (3 * N)
        pressure = DENSITY * temp + virial / (3 * BOX ** 3)
        trace.append((temp.item(), epot.item() / N, pressure.item()))
        if step > STEPS // 4:
            hist_sum += hist
            frames += 1
        if step % (8 * REPORT) == 0:
            t, e, p = trace[-1]
            print(f"step {step:5d}  T {t:.3f}  U/N {e:.3f}  P {p:.3f}")

late = torch.tensor(trace[5:])
print("mean T, U/N, P:", [round(v, 3) for v in late.mean(0).tolist()])
r, g = radial_distribution(hist_sum, frames)
peak = g.argmax()
print(f"g(r) peak {g[peak]:.2f} at r = {r[peak]:.2f}")
'''
