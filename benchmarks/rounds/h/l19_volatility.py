NAME = 'Trains a 1-D CNN on two-week windows of hourly bars to predict volatility.'
FAULT = 'All overlapping windows are materialised in one tensor (each hour is stored 240 times).'
CURE = 'Use a strided view, series.unfold(0, WINDOW, 1), and copy only the windows of a batch.'
KIND = 'memory'
FAULT_LINES = [
    'windows = torch.stack([series[i:i + WINDOW].T for i in range(n)])',
]
FAULT_CALLS = ['stack', 'torch.stack', 'aten::stack', 'aten::cat']
FAULTY = r"""
# next-hour realised volatility from the last two weeks of hourly bars
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)
rng = np.random.default_rng(19)

HOURS, WINDOW = 62_000, 240
EPOCHS, BATCH, STEPS_PER_EPOCH = 3, 128, 280

# ---- synthetic market ----
logvol = np.zeros(HOURS)
shock = rng.normal(scale=0.12, size=HOURS)
for h in range(1, HOURS):
    logvol[h] = 0.985 * logvol[h - 1] + shock[h]
ret = np.exp(logvol) * rng.normal(size=HOURS) * 0.01
index = pd.date_range('2015-01-01', periods=HOURS, freq='h')
bars = pd.DataFrame({'ret': ret}, index=index)
bars['abs'] = bars['ret'].abs()
bars['rv24'] = bars['ret'].pow(2).rolling(24, min_periods=1).mean().pow(0.5)
bars['rv120'] = bars['ret'].pow(2).rolling(120, min_periods=1).mean().pow(0.5)
bars['sin'] = np.sin(2 * np.pi * index.hour / 24)
bars['cos'] = np.cos(2 * np.pi * index.hour / 24)
bars['volume'] = np.exp(0.5 * logvol + 0.3 * rng.normal(size=HOURS))
bars['spread'] = 0.02 + 0.01 * np.exp(logvol) + 0.004 * rng.random(HOURS)

target = np.log(bars['abs'].rolling(6).mean().shift(-6) + 1e-4)
feats = (bars - bars.mean()) / bars.std()

series = torch.tensor(feats.to_numpy(), dtype=torch.float32)
goal = torch.tensor(target.to_numpy(), dtype=torch.float32)
n = HOURS - WINDOW - 6

windows = torch.stack([series[i:i + WINDOW].T for i in range(n)])
labels = goal[WINDOW - 1:WINDOW - 1 + n]
labels = (labels - labels.mean()) / labels.std()

split = int(0.85 * n)
train_ids = torch.arange(split - WINDOW)
valid_ids = torch.arange(split, n)


class VolNet(nn.Module):
    def __init__(self, c=8, w=32):
        super().__init__()
        self.a = nn.Conv1d(c, w, 6, stride=3)
        self.b = nn.Conv1d(w, w, 5, stride=2)
        self.c = nn.Conv1d(w, w, 3, stride=2)
        self.head = nn.Sequential(nn.Linear(2 * w, w), nn.ReLU(), nn.Linear(w, 1))

    def forward(self, x):
        x = F.relu(self.a(x))
        x = F.relu(self.b(x))
        x = F.relu(self.c(x))
        x = torch.cat([x.mean(-1), x[..., -1]], dim=1)
        return self.head(x).squeeze(1)


def validate(net):
    net.eval()
    sse = 0.0
    with torch.no_grad():
        for ids in valid_ids.split(512):
            sse += (net(windows[ids]) - labels[ids]).square().sum().item()
    net.train()
    return sse / len(valid_ids)


net = VolNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
print(f'{n} windows of shape {tuple(windows.shape[1:])}')
for epoch in range(EPOCHS):
    total = 0.0
    for _ in range(STEPS_PER_EPOCH):
        ids = train_ids[torch.randint(0, len(train_ids), (BATCH,))]
        loss = F.mse_loss(net(windows[ids]), labels[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f'epoch {epoch}: train mse {total / STEPS_PER_EPOCH:.4f}, valid mse {validate(net):.4f}')
"""
CURED = r"""
# next-hour realised volatility from the last two weeks of hourly bars
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)
rng = np.random.default_rng(19)

HOURS, WINDOW = 62_000, 240
EPOCHS, BATCH, STEPS_PER_EPOCH = 3, 128, 280

# ---- synthetic market ----
logvol = np.zeros(HOURS)
shock = rng.normal(scale=0.12, size=HOURS)
for h in range(1, HOURS):
    logvol[h] = 0.985 * logvol[h - 1] + shock[h]
ret = np.exp(logvol) * rng.normal(size=HOURS) * 0.01
index = pd.date_range('2015-01-01', periods=HOURS, freq='h')
bars = pd.DataFrame({'ret': ret}, index=index)
bars['abs'] = bars['ret'].abs()
bars['rv24'] = bars['ret'].pow(2).rolling(24, min_periods=1).mean().pow(0.5)
bars['rv120'] = bars['ret'].pow(2).rolling(120, min_periods=1).mean().pow(0.5)
bars['sin'] = np.sin(2 * np.pi * index.hour / 24)
bars['cos'] = np.cos(2 * np.pi * index.hour / 24)
bars['volume'] = np.exp(0.5 * logvol + 0.3 * rng.normal(size=HOURS))
bars['spread'] = 0.02 + 0.01 * np.exp(logvol) + 0.004 * rng.random(HOURS)

target = np.log(bars['abs'].rolling(6).mean().shift(-6) + 1e-4)
feats = (bars - bars.mean()) / bars.std()

series = torch.tensor(feats.to_numpy(), dtype=torch.float32)
goal = torch.tensor(target.to_numpy(), dtype=torch.float32)
n = HOURS - WINDOW - 6

windows = series.unfold(0, WINDOW, 1)[:n]
labels = goal[WINDOW - 1:WINDOW - 1 + n]
labels = (labels - labels.mean()) / labels.std()

split = int(0.85 * n)
train_ids = torch.arange(split - WINDOW)
valid_ids = torch.arange(split, n)


class VolNet(nn.Module):
    def __init__(self, c=8, w=32):
        super().__init__()
        self.a = nn.Conv1d(c, w, 6, stride=3)
        self.b = nn.Conv1d(w, w, 5, stride=2)
        self.c = nn.Conv1d(w, w, 3, stride=2)
        self.head = nn.Sequential(nn.Linear(2 * w, w), nn.ReLU(), nn.Linear(w, 1))

    def forward(self, x):
        x = F.relu(self.a(x))
        x = F.relu(self.b(x))
        x = F.relu(self.c(x))
        x = torch.cat([x.mean(-1), x[..., -1]], dim=1)
        return self.head(x).squeeze(1)


def validate(net):
    net.eval()
    sse = 0.0
    with torch.no_grad():
        for ids in valid_ids.split(512):
            sse += (net(windows[ids]) - labels[ids]).square().sum().item()
    net.train()
    return sse / len(valid_ids)


net = VolNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
print(f'{n} windows of shape {tuple(windows.shape[1:])}')
for epoch in range(EPOCHS):
    total = 0.0
    for _ in range(STEPS_PER_EPOCH):
        ids = train_ids[torch.randint(0, len(train_ids), (BATCH,))]
        loss = F.mse_loss(net(windows[ids]), labels[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f'epoch {epoch}: train mse {total / STEPS_PER_EPOCH:.4f}, valid mse {validate(net):.4f}')
"""
