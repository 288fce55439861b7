NAME = 'Trains a temporal CNN on one-week windows of road-traffic counts from several sensors held in a pandas frame.'
FAULT = 'All overlapping windows are materialised in one array, so that every measurement is stored 168 times over.'
CURE = 'Keep only the series and cut each window when it is asked for (a strided view with unfold).'
KIND = 'memory'
FAULT_LINES = ['self.windows = torch.from_numpy(np.stack(windows))', 'windows = [series[s:s + LOOKBACK] for s in range(self.count)]']
FAULT_CALLS = ['stack', 'np.stack', '__init__', 'from_numpy']
FAULTY = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)
torch.manual_seed(33)
rng = np.random.default_rng(33)

LOOKBACK, AHEAD, SENSORS = 168, 6, 24


def make_frame(hours):
    index = pd.date_range("2022-01-01", periods=hours, freq="h")
    hour = index.hour.to_numpy()
    weekend = (index.day_of_week >= 5).astype(float)
    rush = np.exp(-((hour - 8) / 2.0) ** 2) + np.exp(-((hour - 17) / 2.5) ** 2)
    base = rush * (1 - 0.7 * weekend) + 0.3 * np.sin(2 * np.pi * hour / 24)
    drift = np.cumsum(rng.normal(0, 0.02, (hours, SENSORS)), axis=0)
    counts = base[:, None] * rng.uniform(0.6, 1.6, SENSORS) + 0.3 * np.tanh(drift) + rng.normal(0, 0.1, (hours, SENSORS))
    return pd.DataFrame(counts, index=index, columns=[f"sensor_{k}" for k in range(SENSORS)])


class TrafficWindows(Dataset):
    def __init__(self, frame, mean, std):
        series = ((frame - mean) / std).to_numpy(dtype=np.float32, copy=True)
        self.count = len(series) - LOOKBACK - AHEAD + 1
        windows = [series[s:s + LOOKBACK] for s in range(self.count)]
        self.windows = torch.from_numpy(np.stack(windows))
        self.targets = torch.from_numpy(series[LOOKBACK + AHEAD - 1:])

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.windows[i].T, self.targets[i]


class TemporalCNN(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(SENSORS, width, 5, stride=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, dilation=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, dilation=4), nn.ReLU(),
            nn.AdaptiveAvgPool1d(8), nn.Flatten(),
            nn.Linear(8 * width, SENSORS),
        )

    def forward(self, x):
        return self.net(x)


frame = make_frame(38_000)
cut = int(0.93 * len(frame))
mean, std = frame[:cut].mean(), frame[:cut].std()
train_set = TrafficWindows(frame[:cut], mean, std)
valid_set = TrafficWindows(frame[cut:], mean, std)
sampler = RandomSampler(train_set, num_samples=12_800)
train_loader = DataLoader(train_set, batch_size=64, sampler=sampler)
valid_loader = DataLoader(valid_set, batch_size=128)

model = TemporalCNN()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(2):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.huber_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    error = 0.0
    with torch.no_grad():
        for x, y in valid_loader:
            error += (model(x) - y).abs().mean(1).sum().item()
    print(f"epoch {epoch}: train loss {total / len(train_loader):.4f}, valid MAE {error / len(valid_set):.4f}")
"""
CURED = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)
torch.manual_seed(33)
rng = np.random.default_rng(33)

LOOKBACK, AHEAD, SENSORS = 168, 6, 24


def make_frame(hours):
    index = pd.date_range("2022-01-01", periods=hours, freq="h")
    hour = index.hour.to_numpy()
    weekend = (index.day_of_week >= 5).astype(float)
    rush = np.exp(-((hour - 8) / 2.0) ** 2) + np.exp(-((hour - 17) / 2.5) ** 2)
    base = rush * (1 - 0.7 * weekend) + 0.3 * np.sin(2 * np.pi * hour / 24)
    drift = np.cumsum(rng.normal(0, 0.02, (hours, SENSORS)), axis=0)
    counts = base[:, None] * rng.uniform(0.6, 1.6, SENSORS) + 0.3 * np.tanh(drift) + rng.normal(0, 0.1, (hours, SENSORS))
    return pd.DataFrame(counts, index=index, columns=[f"sensor_{k}" for k in range(SENSORS)])


class TrafficWindows(Dataset):
    def __init__(self, frame, mean, std):
        series = ((frame - mean) / std).to_numpy(dtype=np.float32, copy=True)
        self.count = len(series) - LOOKBACK - AHEAD + 1
        self.windows = torch.from_numpy(series).unfold(0, LOOKBACK, 1).transpose(1, 2)
        self.targets = torch.from_numpy(series[LOOKBACK + AHEAD - 1:])

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.windows[i].T, self.targets[i]


class TemporalCNN(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(SENSORS, width, 5, stride=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, dilation=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, dilation=4), nn.ReLU(),
            nn.AdaptiveAvgPool1d(8), nn.Flatten(),
            nn.Linear(8 * width, SENSORS),
        )

    def forward(self, x):
        return self.net(x)


frame = make_frame(38_000)
cut = int(0.93 * len(frame))
mean, std = frame[:cut].mean(), frame[:cut].std()
train_set = TrafficWindows(frame[:cut], mean, std)
valid_set = TrafficWindows(frame[cut:], mean, std)
sampler = RandomSampler(train_set, num_samples=12_800)
train_loader = DataLoader(train_set, batch_size=64, sampler=sampler)
valid_loader = DataLoader(valid_set, batch_size=128)

model = TemporalCNN()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(2):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.huber_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    error = 0.0
    with torch.no_grad():
        for x, y in valid_loader:
            error += (model(x) - y).abs().mean(1).sum().item()
    print(f"epoch {epoch}: train loss {total / len(train_loader):.4f}, valid MAE {error / len(valid_set):.4f}")
"""
