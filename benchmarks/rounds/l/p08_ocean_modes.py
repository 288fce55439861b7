NAME = 'Finds the leading modes of sea temperature anomalies by subspace iteration.'
FAULT = 'X @ X.T @ q is evaluated from the left, so that the full 1300 x 1300 product is formed at every iteration instead of two thin ones.'
CURE = 'Write X @ (X.T @ q).'
KIND = 'time'
FAULT_LINES = [
    'z = X @ X.T @ q',
    'q, r = torch.linalg.qr(iterate(anom, q))',
]
FAULT_CALLS = [
    'torch.matmul',
    'aten::mm',
    'torch.Tensor.__matmul__',
    'iterate',
]

FAULTY = r"""
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(8)

months, lat, lon = 1300, 50, 100

# three standing patterns with their own periods, a trend and weather noise
t = torch.arange(months, dtype=torch.float32)
y = torch.linspace(-1, 1, lat)[:, None]
x = torch.linspace(0, 2 * math.pi, lon)[None, :]
patterns = [torch.cos(x) * torch.exp(-4 * y ** 2), torch.sin(2 * x) * y, torch.cos(3 * x + 2 * y)]
series = [torch.sin(2 * math.pi * t / 46), torch.sin(2 * math.pi * t / 130 + 1), torch.cos(2 * math.pi * t / 260)]
field = sum(a * s[:, None, None] * p for a, s, p in zip((2.0, 1.2, 0.8), series, patterns))
field = field + 0.001 * t[:, None, None] + 0.7 * torch.randn(months, lat, lon)

# remove the seasonal cycle and weight by area
clim = torch.stack([field[m::12].mean(0) for m in range(12)])
anom = field - clim[torch.arange(months) % 12]
anom = (anom * torch.cos(y * math.pi / 2).clamp(min=0.01).sqrt()).reshape(months, -1)


def iterate(X, q):
    z = X @ X.T @ q
    return z


k = 12
q = torch.linalg.qr(torch.randn(months, k)).Q
last = torch.zeros(k)
for it in range(24):
    q, r = torch.linalg.qr(iterate(anom, q))
    ev = r.diagonal().abs()
    change = ((ev - last).abs() / ev).max().item()
    last = ev

eofs = anom.T @ q
share = ev / anom.pow(2).sum()
# spectra of the leading principal components
pcs = q * ev.sqrt()
spec = torch.fft.rfft(pcs - pcs.mean(0), dim=0).abs().pow(2)
period = months / spec[1:, :4].argmax(0).add(1).float()
print("explained", [round(v, 4) for v in share[:4].tolist()], "periods", [round(p, 1) for p in period.tolist()], f"eof norm {eofs.norm().item():.2f}")
"""

CURED = r"""
import math
import torch

torch.set_num_threads(1)
torch.manual_seed(8)

months, lat, lon = 1300, 50, 100

# three standing patterns with their own periods, a trend and weather noise
t = torch.arange(months, dtype=torch.float32)
y = torch.linspace(-1, 1, lat)[:, None]
x = torch.linspace(0, 2 * math.pi, lon)[None, :]
patterns = [torch.cos(x) * torch.exp(-4 * y ** 2), torch.sin(2 * x) * y, torch.cos(3 * x + 2 * y)]
series = [torch.sin(2 * math.pi * t / 46), torch.sin(2 * math.pi * t / 130 + 1), torch.cos(2 * math.pi * t / 260)]
field = sum(a * s[:, None, None] * p for a, s, p in zip((2.0, 1.2, 0.8), series, patterns))
field = field + 0.001 * t[:, None, None] + 0.7 * torch.randn(months, lat, lon)

# remove the seasonal cycle and weight by area
clim = torch.stack([field[m::12].mean(0) for m in range(12)])
anom = field - clim[torch.arange(months) % 12]
anom = (anom * torch.cos(y * math.pi / 2).clamp(min=0.01).sqrt()).reshape(months, -1)


def iterate(X, q):
    z = X @ (X.T @ q)
    return z


k = 12
q = torch.linalg.qr(torch.randn(months, k)).Q
last = torch.zeros(k)
for it in range(24):
    q, r = torch.linalg.qr(iterate(anom, q))
    ev = r.diagonal().abs()
    change = ((ev - last).abs() / ev).max().item()
    last = ev

eofs = anom.T @ q
share = ev / anom.pow(2).sum()
# spectra of the leading principal components
pcs = q * ev.sqrt()
spec = torch.fft.rfft(pcs - pcs.mean(0), dim=0).abs().pow(2)
period = months / spec[1:, :4].argmax(0).add(1).float()
print("explained", [round(v, 4) for v in share[:4].tolist()], "periods", [round(p, 1) for p in period.tolist()], f"eof norm {eofs.norm().item():.2f}")
"""
