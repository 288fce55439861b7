NAME = 'Trains a regression CNN on spectra and gets predictive uncertainty by MC dropout with calibration figures.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(14)

N, BINS, PASSES = 1400, 256, 100


def spectra(seed=14):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, BINS)
    conc = rng.uniform(0.1, 1.0, (N, 3))
    x = np.zeros((N, BINS))
    for j, (centre, width) in enumerate([(0.25, 0.03), (0.45, 0.05), (0.7, 0.04)]):
        shift = 0.01 * rng.standard_normal((N, 1))
        x += conc[:, j:j + 1] * np.exp(-0.5 * ((grid - centre - shift) / width) ** 2)
    x += rng.uniform(0, 0.5, (N, 1)) * grid + 0.05 * rng.standard_normal((N, BINS))
    y = conc[:, 1] + 0.3 * conc[:, 0] * conc[:, 2]
    return (torch.from_numpy(x.astype(np.float32)).unsqueeze(1),
            torch.from_numpy(y.astype(np.float32)))


class SpectraNet(nn.Module):
    def __init__(self, p=0.15):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 9, stride=2, padding=4), nn.ReLU(), nn.Dropout(p),
            nn.Conv1d(16, 32, 7, stride=2, padding=3), nn.ReLU(), nn.Dropout(p),
            nn.Conv1d(32, 32, 5, stride=2, padding=2), nn.ReLU(), nn.Dropout(p))
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 1))

    def forward(self, x):
        return self.fc(self.conv(x)).squeeze(-1)


def mc_predict(net, x):
    net.train()
    total = torch.zeros(len(x))
    square = torch.zeros(len(x))
    with torch.no_grad():
        for _ in range(PASSES):
            out = torch.cat([net(part) for part in x.split(100)])
            total += out
            square += out * out
    mean = total / PASSES
    var = (square / PASSES - mean * mean).clamp_(min=0)
    return mean, var.sqrt()


x, y = spectra()
n_train = 900
net = SpectraNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, fused=True)
for epoch in range(8):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(50):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[idx]), y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: train mse {total / n_train:.4f}")

xt, yt = x[n_train:], y[n_train:]
mean, sd = mc_predict(net, xt)
net.eval()
with torch.no_grad():
    point = net(xt)
print(f"rmse point {(point - yt).square().mean().sqrt():.4f}  mc mean {(mean - yt).square().mean().sqrt():.4f}")
scale = ((mean - yt).abs() / sd).quantile(0.68).item()
order = sd.argsort()
for name, part in (("most certain third", order[:167]), ("least certain third", order[-167:])):
    rmse = (mean[part] - yt[part]).square().mean().sqrt()
    print(f"{name}: rmse {rmse:.4f}  mean sd {sd[part].mean() * scale:.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 5.89 s (5.66, 6.12). Peak RSS 337 MB. Change tried: whole test set in one batch: 6.67 s (6.09, 7.26), gain -13.3%, peak RSS 351 MB.'
