NAME = 'h23_grid_load_forecast'
FAULT = 'The data come from pandas as float64 and the model was cast with .double() to fit them, so all training and evaluation arithmetic runs in double precision.'
CURE = 'Cast the tensors to float32 when they are made and leave the model in float32.'
KIND = 'time'
FAULT_LINES = [
    'X = torch.from_numpy(feats.to_numpy())',
    'y = torch.from_numpy(target.to_numpy())',
    'model = LoadNet(X.shape[1]).double()',
]
FAULT_CALLS = ['aten::addmm', 'aten::mm', 'torch.nn.functional.linear', 'torch.Tensor.double', 'torch.nn.Module.double', 'forward', 'loss.backward']
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

# two years of hourly system load with weather and calendar
idx = pd.date_range('2022-01-01', periods=24 * 730, freq='h')
hour, doy = idx.hour.to_numpy(), idx.dayofyear.to_numpy()
temp = 11 + 10 * np.sin(2 * np.pi * (doy - 110) / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
temp = temp + np.cumsum(rng.normal(0, 0.25, len(idx))) * 0.15
load = 30 + 6 * np.sin(2 * np.pi * (hour - 8) / 24) + 0.05 * (temp - 17) ** 2
load = load - 4.0 * (idx.dayofweek.to_numpy() >= 5) + rng.normal(0, 0.8, len(idx))
df = pd.DataFrame({'load': load, 'temp': temp}, index=idx)

df['h_sin'], df['h_cos'] = np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)
df['d_sin'], df['d_cos'] = np.sin(2 * np.pi * doy / 365), np.cos(2 * np.pi * doy / 365)
df['weekend'] = (idx.dayofweek >= 5).astype(float)
for lag in (24, 25, 26, 48, 72, 168, 336):
    df[f'lag{lag}'] = df['load'].shift(lag)
df['t24'] = df['temp'].rolling(24).mean()
df['t72'] = df['temp'].rolling(72).mean()
df = df.dropna()

target = df.pop('load')
cut = int(len(df) * 0.8)
mu, sd = df.iloc[:cut].mean(), df.iloc[:cut].std()
feats = (df - mu) / sd
y_mu, y_sd = target.iloc[:cut].mean(), target.iloc[:cut].std()
target = (target - y_mu) / y_sd

X = torch.from_numpy(feats.to_numpy())
y = torch.from_numpy(target.to_numpy())
quantiles = (0.1, 0.5, 0.9)

class LoadNet(nn.Module):
    def __init__(self, n_in, width=384):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, len(quantiles))

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for lin in self.hidden:
            h = h + torch.relu(lin(h))
        return self.out(h)

def pinball(pred, y):
    total = 0.0
    for k, q in enumerate(quantiles):
        err = y - pred[:, k]
        total = total + torch.maximum(q * err, (q - 1) * err).mean()
    return total

model = LoadNet(X.shape[1]).double()
opt = torch.optim.Adam(model.parameters(), lr=5e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)

for epoch in range(6):
    model.train()
    total = 0.0
    order = torch.randperm(cut)
    for sel in order.split(256):
        loss = pinball(model(X[sel]), y[sel])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(sel)
    sched.step()
    model.eval()
    with torch.no_grad():
        val = pinball(model(X[cut:]), y[cut:]).item()
    print(f"epoch {epoch}: pinball {total / cut:.3f}  valid {val:.3f}")

with torch.no_grad():
    pred = model(X[cut:])
truth = y[cut:]
mae = (pred[:, 1] - truth).abs().mean().item() * y_sd
inside = ((truth > pred[:, 0]) & (truth < pred[:, 2])).double().mean().item()
print(f"MAE {mae:.2f} GW, 80% band covers {inside:.2f}")
'''
CURED = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

# two years of hourly system load with weather and calendar
idx = pd.date_range('2022-01-01', periods=24 * 730, freq='h')
hour, doy = idx.hour.to_numpy(), idx.dayofyear.to_numpy()
temp = 11 + 10 * np.sin(2 * np.pi * (doy - 110) / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
temp = temp + np.cumsum(rng.normal(0, 0.25, len(idx))) * 0.15
load = 30 + 6 * np.sin(2 * np.pi * (hour - 8) / 24) + 0.05 * (temp - 17) ** 2
load = load - 4.0 * (idx.dayofweek.to_numpy() >= 5) + rng.normal(0, 0.8, len(idx))
df = pd.DataFrame({'load': load, 'temp': temp}, index=idx)

df['h_sin'], df['h_cos'] = np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)
df['d_sin'], df['d_cos'] = np.sin(2 * np.pi * doy / 365), np.cos(2 * np.pi * doy / 365)
df['weekend'] = (idx.dayofweek >= 5).astype(float)
for lag in (24, 25, 26, 48, 72, 168, 336):
    df[f'lag{lag}'] = df['load'].shift(lag)
df['t24'] = df['temp'].rolling(24).mean()
df['t72'] = df['temp'].rolling(72).mean()
df = df.dropna()

target = df.pop('load')
cut = int(len(df) * 0.8)
mu, sd = df.iloc[:cut].mean(), df.iloc[:cut].std()
feats = (df - mu) / sd
y_mu, y_sd = target.iloc[:cut].mean(), target.iloc[:cut].std()
target = (target - y_mu) / y_sd

X = torch.from_numpy(feats.to_numpy(dtype=np.float32))
y = torch.from_numpy(target.to_numpy(dtype=np.float32))
quantiles = (0.1, 0.5, 0.9)

class LoadNet(nn.Module):
    def __init__(self, n_in, width=384):
        super().__init__()
        self.inp = nn.Linear(n_in, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, len(quantiles))

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for lin in self.hidden:
            h = h + torch.relu(lin(h))
        return self.out(h)

def pinball(pred, y):
    total = 0.0
    for k, q in enumerate(quantiles):
        err = y - pred[:, k]
        total = total + torch.maximum(q * err, (q - 1) * err).mean()
    return total

model = LoadNet(X.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=5e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)

for epoch in range(6):
    model.train()
    total = 0.0
    order = torch.randperm(cut)
    for sel in order.split(256):
        loss = pinball(model(X[sel]), y[sel])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(sel)
    sched.step()
    model.eval()
    with torch.no_grad():
        val = pinball(model(X[cut:]), y[cut:]).item()
    print(f"epoch {epoch}: pinball {total / cut:.3f}  valid {val:.3f}")

with torch.no_grad():
    pred = model(X[cut:])
truth = y[cut:]
mae = (pred[:, 1] - truth).abs().mean().item() * y_sd
inside = ((truth > pred[:, 0]) & (truth < pred[:, 2])).double().mean().item()
print(f"MAE {mae:.2f} GW, 80% band covers {inside:.2f}")
'''
