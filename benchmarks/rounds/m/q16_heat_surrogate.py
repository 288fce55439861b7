NAME = 'Simulates 1-D heat conduction with random sources and trains a neural surrogate of the solver.'

FAULT = 'The network is turned to double precision to match the float64 arrays of the solver, so all training runs in float64.'

CURE = 'Turn the arrays to float32 and leave the network in float32.'

KIND = 'time'

FAULT_LINES = ['net = Surrogate().double()', 'X = torch.from_numpy(inputs)', 'Y = torch.from_numpy(outputs)']

FAULT_CALLS = ['aten::addmm', 'aten::mm', 'torch.nn.Module.double']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy.linalg import lu_factor, lu_solve

torch.set_num_threads(1)
torch.manual_seed(4)

N_GRID, N_SIM, STEPS, DT = 96, 2400, 60, 2e-4


def random_profiles(n, rng, modes=6):
    s = np.linspace(0, 1, N_GRID)
    amp = rng.standard_normal((n, modes)) / np.arange(1, modes + 1)
    basis = np.sin(np.pi * np.arange(1, modes + 1)[:, None] * s[None])
    return amp @ basis


def crank_nicolson(u0, source, kappa):
    h = 1.0 / (N_GRID - 1)
    lap = (np.diag(np.full(N_GRID, -2.0)) + np.diag(np.ones(N_GRID - 1), 1)
           + np.diag(np.ones(N_GRID - 1), -1)) / h ** 2
    lap[0] = lap[-1] = 0.0
    eye = np.eye(N_GRID)
    lhs = lu_factor(eye - 0.5 * DT * kappa * lap)
    rhs = eye + 0.5 * DT * kappa * lap
    u = u0.T.copy()
    f = DT * source.T
    for _ in range(STEPS):
        u = lu_solve(lhs, rhs @ u + f)
    return u.T


class Surrogate(nn.Module):
    def __init__(self, width=448):
        super().__init__()
        self.inp = nn.Linear(2 * N_GRID, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.out = nn.Linear(width, N_GRID)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        for layer in self.mid:
            h = h + torch.tanh(layer(h))
        return self.out(h)


rng = np.random.default_rng(4)
u0 = random_profiles(N_SIM, rng)
src = 20.0 * random_profiles(N_SIM, rng)
final = crank_nicolson(u0, src, kappa=0.4)
inputs = np.concatenate([u0, src / 20.0], axis=1)
outputs = (final - final.mean(0)) / final.std()
print("simulated", inputs.shape, f"final rms {final.std():.4f}")

X = torch.from_numpy(inputs)
Y = torch.from_numpy(outputs)
n_train = 2000
net = Surrogate().double()
opt = torch.optim.SGD(net.parameters(), lr=0.06, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 24)

for epoch in range(24):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(250):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(X[idx]), Y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: train mse {total / n_train:.5f}")

net.eval()
with torch.no_grad():
    err = net(X[n_train:]) - Y[n_train:]
rel = (err.pow(2).sum(1).sqrt() / Y[n_train:].pow(2).sum(1).sqrt()).median()
print(f"test mse {err.pow(2).mean():.4f}  median relative error {rel:.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy.linalg import lu_factor, lu_solve

torch.set_num_threads(1)
torch.manual_seed(4)

N_GRID, N_SIM, STEPS, DT = 96, 2400, 60, 2e-4


def random_profiles(n, rng, modes=6):
    s = np.linspace(0, 1, N_GRID)
    amp = rng.standard_normal((n, modes)) / np.arange(1, modes + 1)
    basis = np.sin(np.pi * np.arange(1, modes + 1)[:, None] * s[None])
    return amp @ basis


def crank_nicolson(u0, source, kappa):
    h = 1.0 / (N_GRID - 1)
    lap = (np.diag(np.full(N_GRID, -2.0)) + np.diag(np.ones(N_GRID - 1), 1)
           + np.diag(np.ones(N_GRID - 1), -1)) / h ** 2
    lap[0] = lap[-1] = 0.0
    eye = np.eye(N_GRID)
    lhs = lu_factor(eye - 0.5 * DT * kappa * lap)
    rhs = eye + 0.5 * DT * kappa * lap
    u = u0.T.copy()
    f = DT * source.T
    for _ in range(STEPS):
        u = lu_solve(lhs, rhs @ u + f)
    return u.T


class Surrogate(nn.Module):
    def __init__(self, width=448):
        super().__init__()
        self.inp = nn.Linear(2 * N_GRID, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.out = nn.Linear(width, N_GRID)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        for layer in self.mid:
            h = h + torch.tanh(layer(h))
        return self.out(h)


rng = np.random.default_rng(4)
u0 = random_profiles(N_SIM, rng)
src = 20.0 * random_profiles(N_SIM, rng)
final = crank_nicolson(u0, src, kappa=0.4)
inputs = np.concatenate([u0, src / 20.0], axis=1)
outputs = (final - final.mean(0)) / final.std()
print("simulated", inputs.shape, f"final rms {final.std():.4f}")

X = torch.from_numpy(inputs).float()
Y = torch.from_numpy(outputs).float()
n_train = 2000
net = Surrogate()
opt = torch.optim.SGD(net.parameters(), lr=0.06, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 24)

for epoch in range(24):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(250):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(X[idx]), Y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: train mse {total / n_train:.5f}")

net.eval()
with torch.no_grad():
    err = net(X[n_train:]) - Y[n_train:]
rel = (err.pow(2).sum(1).sqrt() / Y[n_train:].pow(2).sum(1).sqrt()).median()
print(f"test mse {err.pow(2).mean():.4f}  median relative error {rel:.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 8.88 s (8.67, 9.08), cured 6.39 s (6.18, 6.61); share gained (faulty - cured) / faulty = 28%. Peak RSS 370 MB / 350 MB. Printed results identical.'
