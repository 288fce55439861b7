NAME = 'Forecasts synthetic electricity load of several meters with a temporal CNN on sliding windows.'
FAULT = 'All overlapping windows are materialised as one big array before training, so every reading is stored 96 times (and once more on conversion to float32).'
CURE = 'Keep the series once and cut each batch of windows from an unfold view by index.'
KIND = 'memory'
FAULT_LINES = ['past = np.stack([values[i:i + LOOKBACK] for i in starts])', 'X = torch.tensor(past, dtype=torch.float32).transpose(1, 2)', 'starts = range(len(values) - LOOKBACK - HORIZON)']
FAULT_CALLS = ['stack', 'tensor', 'as_tensor', 'array']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

# %% one year of half-hourly load, 40 meters
LOOKBACK, HORIZON, METERS = 96, 4, 40
index = pd.date_range('2023-01-01', periods=365 * 48, freq='30min')
day = np.sin(2 * np.pi * (index.hour.values + index.minute.values / 60) / 24)
week = (index.day_of_week.values < 5) * 0.5
year = np.cos(2 * np.pi * index.day_of_year.values / 365)
load = pd.DataFrame(
    {f'meter_{m:02d}': 2 + rng.uniform(.5, 1.5) * np.roll(day, rng.integers(0, 8)) + rng.uniform(.2, 1) * week
     + .4 * year + np.convolve(rng.normal(0, .3, len(index)), np.ones(6) / 6, 'same') for m in range(METERS)},
    index=index)
print(load.iloc[:, :4].resample('90D').mean().round(2))

values = ((load - load.mean()) / load.std()).to_numpy()
starts = range(len(values) - LOOKBACK - HORIZON)
past = np.stack([values[i:i + LOOKBACK] for i in starts])
X = torch.tensor(past, dtype=torch.float32).transpose(1, 2)
Y = torch.tensor(np.stack([values[i + LOOKBACK:i + LOOKBACK + HORIZON].mean(0) for i in starts]), dtype=torch.float32)
split = int(.8 * len(X))
print('windows', tuple(X.shape), 'train', split)


class TCN(nn.Module):
    def __init__(self, ch, width=48):
        super().__init__()
        layers, c = [], ch
        for _ in range(4):
            layers += [nn.Conv1d(c, width, 3, stride=2), nn.ReLU()]
            c = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(5 * width, ch)

    def forward(self, x):
        return x[:, :, -1] + self.head(self.body(x).flatten(1))


net = TCN(METERS)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, 0.6)
history = []
for epoch in range(4):
    net.train()
    seen = 0.
    for idx in torch.randperm(split).split(64):
        loss = nn.functional.huber_loss(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += loss.item() * len(idx)
    scheduler.step()
    net.eval()
    with torch.no_grad():
        test = torch.arange(split, len(Y))
        pred = torch.cat([net(X[idx]) for idx in test.split(512)])
    mae = (pred - Y[split:]).abs().mean().item()
    history.append((seen / split, mae))
    print(f'epoch {epoch}  huber {history[-1][0]:.4f}  test MAE {mae:.4f}')

naive = (Y[split - 48:-48] - Y[split:]).abs().mean().item()
print('seasonal naive MAE', round(naive, 4))
plt.plot(Y[split:split + 200, 0], label='load')
plt.plot(pred[:200, 0], label='forecast')
plt.legend()
plt.show()
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

# %% one year of half-hourly load, 40 meters
LOOKBACK, HORIZON, METERS = 96, 4, 40
index = pd.date_range('2023-01-01', periods=365 * 48, freq='30min')
day = np.sin(2 * np.pi * (index.hour.values + index.minute.values / 60) / 24)
week = (index.day_of_week.values < 5) * 0.5
year = np.cos(2 * np.pi * index.day_of_year.values / 365)
load = pd.DataFrame(
    {f'meter_{m:02d}': 2 + rng.uniform(.5, 1.5) * np.roll(day, rng.integers(0, 8)) + rng.uniform(.2, 1) * week
     + .4 * year + np.convolve(rng.normal(0, .3, len(index)), np.ones(6) / 6, 'same') for m in range(METERS)},
    index=index)
print(load.iloc[:, :4].resample('90D').mean().round(2))

values = ((load - load.mean()) / load.std()).to_numpy()
starts = range(len(values) - LOOKBACK - HORIZON)
X = torch.tensor(values, dtype=torch.float32).unfold(0, LOOKBACK, 1)[:len(starts)]
Y = torch.tensor(np.stack([values[i + LOOKBACK:i + LOOKBACK + HORIZON].mean(0) for i in starts]), dtype=torch.float32)
split = int(.8 * len(X))
print('windows', tuple(X.shape), 'train', split)


class TCN(nn.Module):
    def __init__(self, ch, width=48):
        super().__init__()
        layers, c = [], ch
        for _ in range(4):
            layers += [nn.Conv1d(c, width, 3, stride=2), nn.ReLU()]
            c = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(5 * width, ch)

    def forward(self, x):
        return x[:, :, -1] + self.head(self.body(x).flatten(1))


net = TCN(METERS)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, 0.6)
history = []
for epoch in range(4):
    net.train()
    seen = 0.
    for idx in torch.randperm(split).split(64):
        loss = nn.functional.huber_loss(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += loss.item() * len(idx)
    scheduler.step()
    net.eval()
    with torch.no_grad():
        test = torch.arange(split, len(Y))
        pred = torch.cat([net(X[idx]) for idx in test.split(512)])
    mae = (pred - Y[split:]).abs().mean().item()
    history.append((seen / split, mae))
    print(f'epoch {epoch}  huber {history[-1][0]:.4f}  test MAE {mae:.4f}')

naive = (Y[split - 48:-48] - Y[split:]).abs().mean().item()
print('seasonal naive MAE', round(naive, 4))
plt.plot(Y[split:split + 200, 0], label='load')
plt.plot(pred[:200, 0], label='forecast')
plt.legend()
plt.show()
"""
