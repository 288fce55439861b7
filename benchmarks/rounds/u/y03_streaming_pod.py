NAME = 'Simulates a driven 2-D advection-diffusion field and builds its POD basis on line, chunk by chunk, by merging SVDs.'
FAULT = 'torch.linalg.svd is called with its default full_matrices=True on a tall matrix, so that each merge builds a square left factor of which only 24 columns are used.'
CURE = 'Pass full_matrices=False.'
KIND = 'time'
FAULT_LINES = ['u, s, _ = torch.linalg.svd(stacked)', 'pod.absorb(chunk)']
FAULT_CALLS = ['torch.linalg.svd', 'svd', 'absorb', 'StreamingPOD.absorb']

FAULTY = r'''
import math

import pandas as pd
import torch

torch.set_num_threads(1)
torch.manual_seed(5)

N, DT, CHUNK, RANK, N_CHUNKS = 52, 2e-3, 30, 24, 60


class Field:
    """Pseudo-spectral advection-diffusion on the unit torus with a slowly turning wind."""

    def __init__(self, n, nu=2e-3):
        k = 2 * math.pi * torch.fft.fftfreq(n, d=1.0 / n)
        self.kx, self.ky = k[:, None], k[None, :]
        self.damp = torch.exp(-nu * (self.kx ** 2 + self.ky ** 2) * DT)
        grid = torch.arange(n) / n
        gx, gy = grid[:, None], grid[None, :]
        self.spots = torch.stack([
            torch.exp(-60 * ((gx - cx) ** 2 + (gy - cy) ** 2))
            for cx, cy in torch.rand(6, 2).tolist()])
        self.spots_hat = torch.fft.fft2(self.spots)
        self.hat = torch.fft.fft2(torch.randn(n, n) * 0.05)
        self.t = 0.0

    def step(self):
        wx = 0.8 * math.cos(1.3 * self.t)
        wy = 0.8 * math.sin(0.7 * self.t)
        turn = torch.exp(-1j * DT * (wx * self.kx + wy * self.ky))
        power = torch.tensor([math.sin((i + 1) * self.t) for i in range(6)])
        drive = torch.tensordot(power.to(self.spots_hat.dtype), self.spots_hat, dims=1)
        self.hat = self.hat * turn * self.damp + DT * drive
        self.t += DT

    def chunk(self, m, every=12):
        columns = []
        for _ in range(m):
            for _ in range(every):
                self.step()
            columns.append(torch.fft.ifft2(self.hat).real.flatten())
        return torch.stack(columns, dim=1)


class StreamingPOD:
    def __init__(self, rank, forget=0.995):
        self.rank, self.forget = rank, forget
        self.basis = None
        self.sigma = None

    def absorb(self, x):
        if self.basis is None:
            stacked = x
        else:
            stacked = torch.cat([self.basis * (self.forget * self.sigma), x], dim=1)
        u, s, _ = torch.linalg.svd(stacked)
        r = min(self.rank, s.numel())
        self.basis = u[:, :r].contiguous()
        self.sigma = s[:r]

    def residual(self, x):
        lost = x - self.basis @ (self.basis.T @ x)
        return (lost.norm() / x.norm()).item()


field = Field(N)
pod = StreamingPOD(RANK)
records = []
for c in range(N_CHUNKS):
    chunk = field.chunk(CHUNK)
    before = pod.residual(chunk) if pod.basis is not None else 1.0
    pod.absorb(chunk)
    share = (pod.sigma[:5].square().sum() / pod.sigma.square().sum()).item()
    records.append({"chunk": c, "unseen": before, "seen": pod.residual(chunk), "top5": share})

table = pd.DataFrame(records)
print(table.iloc[9::10].round(3).to_string(index=False))
print("leading singular values:", [round(v, 2) for v in pod.sigma[:4].tolist()])
ortho = (pod.basis.T @ pod.basis - torch.eye(RANK)).abs().max().item()
print("basis orthonormal:", ortho < 1e-4)
'''

CURED = r'''
import math

import pandas as pd
import torch

torch.set_num_threads(1)
torch.manual_seed(5)

N, DT, CHUNK, RANK, N_CHUNKS = 52, 2e-3, 30, 24, 60


class Field:
    """Pseudo-spectral advection-diffusion on the unit torus with a slowly turning wind."""

    def __init__(self, n, nu=2e-3):
        k = 2 * math.pi * torch.fft.fftfreq(n, d=1.0 / n)
        self.kx, self.ky = k[:, None], k[None, :]
        self.damp = torch.exp(-nu * (self.kx ** 2 + self.ky ** 2) * DT)
        grid = torch.arange(n) / n
        gx, gy = grid[:, None], grid[None, :]
        self.spots = torch.stack([
            torch.exp(-60 * ((gx - cx) ** 2 + (gy - cy) ** 2))
            for cx, cy in torch.rand(6, 2).tolist()])
        self.spots_hat = torch.fft.fft2(self.spots)
        self.hat = torch.fft.fft2(torch.randn(n, n) * 0.05)
        self.t = 0.0

    def step(self):
        wx = 0.8 * math.cos(1.3 * self.t)
        wy = 0.8 * math.sin(0.7 * self.t)
        turn = torch.exp(-1j * DT * (wx * self.kx + wy * self.ky))
        power = torch.tensor([math.sin((i + 1) * self.t) for i in range(6)])
        drive = torch.tensordot(power.to(self.spots_hat.dtype), self.spots_hat, dims=1)
        self.hat = self.hat * turn * self.damp + DT * drive
        self.t += DT

    def chunk(self, m, every=12):
        columns = []
        for _ in range(m):
            for _ in range(every):
                self.step()
            columns.append(torch.fft.ifft2(self.hat).real.flatten())
        return torch.stack(columns, dim=1)


class StreamingPOD:
    def __init__(self, rank, forget=0.995):
        self.rank, self.forget = rank, forget
        self.basis = None
        self.sigma = None

    def absorb(self, x):
        if self.basis is None:
            stacked = x
        else:
            stacked = torch.cat([self.basis * (self.forget * self.sigma), x], dim=1)
        u, s, _ = torch.linalg.svd(stacked, full_matrices=False)
        r = min(self.rank, s.numel())
        self.basis = u[:, :r].contiguous()
        self.sigma = s[:r]

    def residual(self, x):
        lost = x - self.basis @ (self.basis.T @ x)
        return (lost.norm() / x.norm()).item()


field = Field(N)
pod = StreamingPOD(RANK)
records = []
for c in range(N_CHUNKS):
    chunk = field.chunk(CHUNK)
    before = pod.residual(chunk) if pod.basis is not None else 1.0
    pod.absorb(chunk)
    share = (pod.sigma[:5].square().sum() / pod.sigma.square().sum()).item()
    records.append({"chunk": c, "unseen": before, "seen": pod.residual(chunk), "top5": share})

table = pd.DataFrame(records)
print(table.iloc[9::10].round(3).to_string(index=False))
print("leading singular values:", [round(v, 2) for v in pod.sigma[:4].tolist()])
ortho = (pod.basis.T @ pod.basis - torch.eye(RANK)).abs().max().item()
print("basis orthonormal:", ortho < 1e-4)
'''
