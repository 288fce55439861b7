NAME = "Simulates Cahn-Hilliard phase separation with a spectral scheme and analyses coarse snapshots of the field."
FAULT = "The snapshots are strided views (c[::8, ::8]), and each keeps its whole full-size field alive."
CURE = "Clone the coarse view, so that only the small copy is kept."
KIND = "memory"
FAULT_LINES = ["snapshots.append(coarse(c))", "return field[::STRIDE, ::STRIDE]", "c = solver.step(c)"]
FAULT_CALLS = ["append", "coarse", "__getitem__", "irfft2"]
FAULTY = r'''
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(2)

N = 3072
STRIDE = 16
DT, EPS2 = 0.2, 1.0
STEPS, EVERY = 72, 3


class CahnHilliard:
    def __init__(self, c):
        n = len(c)
        kx = torch.fft.fftfreq(n, d=1.0 / (2 * math.pi))
        ky = torch.fft.rfftfreq(n, d=1.0 / (2 * math.pi))
        k2 = kx[:, None] ** 2 + ky[None, :] ** 2
        self.explicit = -DT * k2
        self.scale = 1.0 / (1.0 + DT * (2.0 * k2 + EPS2 * k2 ** 2))
        self.c_hat = torch.fft.rfft2(c)

    def step(self, c):
        nonlinear = torch.fft.rfft2(c.pow(3).sub_(c, alpha=3.0))
        self.c_hat.add_(nonlinear.mul_(self.explicit)).mul_(self.scale)
        return torch.fft.irfft2(self.c_hat, s=c.shape)


def coarse(field):
    return field[::STRIDE, ::STRIDE]


def energy(field):
    gx = torch.diff(field, dim=0)
    gy = torch.diff(field, dim=1)
    bulk = 0.25 * (field ** 2 - 1).pow(2).mean()
    return (bulk + 0.5 * EPS2 * (gx.pow(2).mean() + gy.pow(2).mean())).item()


def correlation_length(series):
    spec = torch.fft.fft2(series - series.mean((1, 2), keepdim=True)).abs().pow(2)
    corr = torch.fft.ifft2(spec).real
    corr = corr / corr[:, :1, :1]
    return (corr[:, 0, : corr.shape[2] // 2].clamp(min=0).sum(1)) * STRIDE


c = 0.2 * torch.randn(N, N)
c -= c.mean()
solver = CahnHilliard(c)
mass0 = c.mean().item()

snapshots, times = [], []
for step in range(1, STEPS + 1):
    c = solver.step(c)
    if step % EVERY == 0:
        snapshots.append(coarse(c))
        times.append(step * DT)
    if step % 24 == 0:
        print(f"t={step * DT:6.1f}  energy {energy(c):.4f}  max {c.abs().max():.3f}")

series = torch.stack(snapshots)
length = correlation_length(series)
variance = series.var(dim=(1, 2))
lag = torch.stack([(series[i] * series[-1]).mean() for i in range(0, len(series), 6)])

print(f"{len(series)} snapshots of {tuple(series.shape[1:])}")
print(f"mass drift {abs(c.mean().item() - mass0):.1e}")
print(f"variance first {variance[0]:.4f}  last {variance[-1]:.4f}")
print(f"correlation length first {length[0]:.2f}  last {length[-1]:.2f}")
print("overlap with final state", [round(v, 3) for v in lag.tolist()])
'''
CURED = FAULTY.replace("return field[::STRIDE, ::STRIDE]", "return field[::STRIDE, ::STRIDE].clone()")
