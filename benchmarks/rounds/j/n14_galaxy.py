NAME = 'Integrates a small star cluster with a leapfrog scheme and follows its half-mass radius and energy error.'
FAULT = 'Each step computes the accelerations at its beginning anew although they are those of the end of the step before.'
CURE = 'Keep the accelerations of the end of the step for the first kick of the next.'
KIND = 'time'
FAULT_LINES = [
    's.vel += 0.5 * self.dt * s.accelerations()',
]
FAULT_CALLS = ['accelerations', 'step', 'einsum', 'pow', 'rsqrt']

FAULTY = r"""
import torch

torch.manual_seed(8)
torch.set_num_threads(1)

# a small star cluster, softened gravity, leapfrog in kick-drift-kick form
N, DT, STEPS, EPS2 = 360, 0.004, 1150, 0.02 ** 2


class Cluster:
    def __init__(self, n):
        r = 0.3 * torch.rand(n, 1, dtype=torch.float64) ** (1 / 3) + 0.05
        u = torch.randn(n, 3, dtype=torch.float64)
        self.pos = r * u / u.norm(dim=1, keepdim=True)
        self.mass = torch.full((n,), 1.0 / n, dtype=torch.float64)
        self.vel = 0.6 * torch.randn(n, 3, dtype=torch.float64)
        self.vel -= self.vel.mean(0)

    def accelerations(self):
        p = self.pos
        diff = p[None, :, :] - p[:, None, :]
        inv = (diff.pow(2).sum(-1) + EPS2).rsqrt()
        w = inv * inv * inv * self.mass
        return torch.einsum("ij,ijk->ik", w, diff)

    def energy(self):
        kinetic = 0.5 * (self.mass * self.vel.pow(2).sum(1)).sum()
        d = torch.sqrt(torch.pdist(self.pos) ** 2 + EPS2)
        return kinetic - (self.mass[0] ** 2 / d).sum()

    def half_mass_radius(self):
        r = (self.pos - self.pos.mean(0)).norm(dim=1)
        return r.median()


class Leapfrog:
    def __init__(self, system, dt):
        self.system, self.dt = system, dt

    def step(self):
        s = self.system
        s.vel += 0.5 * self.dt * s.accelerations()
        s.pos += self.dt * s.vel
        s.vel += 0.5 * self.dt * s.accelerations()


cluster = Cluster(N)
integrator = Leapfrog(cluster, DT)
e0 = cluster.energy()
track = []
for k in range(1, STEPS + 1):
    integrator.step()
    if k % 25 == 0:
        track.append((k * DT, cluster.half_mass_radius().item(), (cluster.energy() / e0 - 1).abs().item()))
for t, rh, de in track[5::6]:
    print(f"t={t:.2f}  half-mass radius {rh:.5f}  energy error {de:.2e}")
drift = cluster.vel.mean(0).norm().item()
print("centre-of-mass speed below 1e-10:", drift < 1e-10)
"""

CURED = r"""
import torch

torch.manual_seed(8)
torch.set_num_threads(1)

# a small star cluster, softened gravity, leapfrog in kick-drift-kick form
N, DT, STEPS, EPS2 = 360, 0.004, 1150, 0.02 ** 2


class Cluster:
    def __init__(self, n):
        r = 0.3 * torch.rand(n, 1, dtype=torch.float64) ** (1 / 3) + 0.05
        u = torch.randn(n, 3, dtype=torch.float64)
        self.pos = r * u / u.norm(dim=1, keepdim=True)
        self.mass = torch.full((n,), 1.0 / n, dtype=torch.float64)
        self.vel = 0.6 * torch.randn(n, 3, dtype=torch.float64)
        self.vel -= self.vel.mean(0)

    def accelerations(self):
        p = self.pos
        diff = p[None, :, :] - p[:, None, :]
        inv = (diff.pow(2).sum(-1) + EPS2).rsqrt()
        w = inv * inv * inv * self.mass
        return torch.einsum("ij,ijk->ik", w, diff)

    def energy(self):
        kinetic = 0.5 * (self.mass * self.vel.pow(2).sum(1)).sum()
        d = torch.sqrt(torch.pdist(self.pos) ** 2 + EPS2)
        return kinetic - (self.mass[0] ** 2 / d).sum()

    def half_mass_radius(self):
        r = (self.pos - self.pos.mean(0)).norm(dim=1)
        return r.median()


class Leapfrog:
    def __init__(self, system, dt):
        self.system, self.dt = system, dt
        self.acc = system.accelerations()

    def step(self):
        s = self.system
        s.vel += 0.5 * self.dt * self.acc
        s.pos += self.dt * s.vel
        self.acc = s.accelerations()
        s.vel += 0.5 * self.dt * self.acc


cluster = Cluster(N)
integrator = Leapfrog(cluster, DT)
e0 = cluster.energy()
track = []
for k in range(1, STEPS + 1):
    integrator.step()
    if k % 25 == 0:
        track.append((k * DT, cluster.half_mass_radius().item(), (cluster.energy() / e0 - 1).abs().item()))
for t, rh, de in track[5::6]:
    print(f"t={t:.2f}  half-mass radius {rh:.5f}  energy error {de:.2e}")
drift = cluster.vel.mean(0).norm().item()
print("centre-of-mass speed below 1e-10:", drift < 1e-10)
"""
