NAME = "Predicts hourly bike rentals with a residual MLP trained by sharpness-aware minimisation."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Each step runs the forward and backward pass twice on the same batch and keeps copies of the weights' offsets: this is how sharpness-aware minimisation works (the second gradient is taken at shifted weights), and the loops over parameters are about one percent."
GOOD = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(31)
rng = np.random.default_rng(31)

# hourly rentals over two years
hours = pd.date_range("2021-01-01", periods=24 * 730, freq="h")
df = pd.DataFrame({"hour": hours.hour, "dow": hours.dayofweek, "doy": hours.dayofyear})
df["temp"] = 12 - 11 * np.cos(2 * np.pi * df.doy / 365) + 4 * np.sin(2 * np.pi * (df.hour - 9) / 24) + rng.normal(0, 3, len(df))
df["rain"] = (rng.random(len(df)) < 0.12) * rng.gamma(1.5, 1.0, len(df))
df["holiday"] = (rng.random(len(df)) < 0.03).astype(int)
work = (df.dow < 5) & (df.holiday == 0)
rush = np.exp(-(df.hour - 8) ** 2 / 3) + 1.2 * np.exp(-(df.hour - 17) ** 2 / 5)
rate = 40 + 160 * rush * work + 110 * np.exp(-(df.hour - 14) ** 2 / 18) * ~work + 4 * df.temp.clip(0, 28)
df["rentals"] = rng.poisson((rate * np.exp(-0.35 * df.rain)).clip(2))

num = df[["temp", "rain", "holiday"]].to_numpy(np.float32)
num[:, 0] = (num[:, 0] - 12) / 9
cyc = np.stack([f(2 * np.pi * df.doy / 365) for f in (np.sin, np.cos)], 1)
features = np.concatenate([num, cyc, np.eye(24)[df.hour], np.eye(7)[df.dow]], 1)
X = torch.tensor(features, dtype=torch.float32)
y = torch.tensor(np.log1p(df.rentals.to_numpy()), dtype=torch.float32)
y_mean, y_std = y.mean(), y.std()
y = (y - y_mean) / y_std
perm = torch.randperm(len(X))
tr, te = perm[:14000], perm[14000:]


class ResidualMLP(nn.Module):
    def __init__(self, d_in, width=128, depth=3):
        super().__init__()
        self.inp = nn.Linear(d_in, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inp(x)
        for blk in self.blocks:
            h = h + blk(F.relu(h))
        return self.out(h).squeeze(1)


def sam_step(model, opt, xb, yb, rho=0.05):
    params = list(model.parameters())
    opt.zero_grad()
    first = F.mse_loss(model(xb), yb)
    first.backward()
    with torch.no_grad():
        norm = torch.stack(torch._foreach_norm([p.grad for p in params])).norm()
        shift = torch._foreach_mul([p.grad for p in params], (rho / (norm + 1e-12)).item())
        torch._foreach_add_(params, shift)
    opt.zero_grad()
    F.mse_loss(model(xb), yb).backward()
    with torch.no_grad():
        torch._foreach_sub_(params, shift)
    opt.step()
    return first.item()


model = ResidualMLP(X.shape[1])
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 16)
for epoch in range(16):
    total = 0.0
    for idx in tr[torch.randperm(len(tr))].split(500):
        total += sam_step(model, opt, X[idx], y[idx]) * len(idx)
    sched.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d}  train mse {total / len(tr):.4f}")

with torch.no_grad():
    pred = torch.expm1(model(X[te]) * y_std + y_mean)
    true = torch.expm1(y[te] * y_std + y_mean)
report = pd.DataFrame({"hour": df.hour.to_numpy()[te.numpy()], "abs_err": (pred - true).abs().numpy()})
print("test MAE (rentals):", round(report.abs_err.mean(), 2))
print(report.groupby("hour").abs_err.mean().iloc[[3, 8, 14, 17]].round(2).to_dict())
'''
