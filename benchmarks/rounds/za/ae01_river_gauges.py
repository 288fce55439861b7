NAME = "Forecasts the river level at a downstream gauge six hours ahead from three days of hourly gauge and rain readings with a GRU."
FAULT = "Every sample slices the pandas frame and rebuilds its calendar columns and scaling in pandas inside __getitem__, so pandas overhead is paid for every window in every epoch."
CURE = "Compute the scaled values and the calendar columns once in __init__ as one float32 tensor and slice that tensor in __getitem__."
KIND = "time"
FAULT_LINES = [
    "part = self.frame.iloc[i:i + self.length]",
    "vals = (part[self.cols] - self.mu) / self.sd",
    "day = 2 * np.pi * part.index.dayofyear / 365.25",
    "x = np.column_stack([vals.values, np.sin(day), np.cos(day)])",
    "def __getitem__(self, i):",
]
FAULT_CALLS = ["__getitem__", "iloc", "_arith_method", "column_stack", "dayofyear"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, Subset

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

# --- three gauges, two rain stations, one reservoir, hourly -----------------
n = 24 * 250
idx = pd.date_range("2021-01-01", periods=n, freq="h")
rain_a = rng.gamma(0.15, 4.0, n)
rain_b = 0.6 * rain_a + rng.gamma(0.12, 3.0, n)
store = np.zeros(n)
for t in range(1, n):
    store[t] = 0.97 * store[t - 1] + 0.03 * rain_a[t] + 0.02 * rain_b[t]
upper = store + 0.02 * rng.standard_normal(n)
middle = np.roll(store, 4) * 1.3 + 0.02 * rng.standard_normal(n)
lower = np.roll(store, 9) * 1.7 + 0.03 * rng.standard_normal(n)
release = np.clip(np.sin(np.arange(n) / 500.0), 0, 1)
gauges = pd.DataFrame(
    {"rain_a": rain_a, "rain_b": rain_b, "upper": upper,
     "middle": middle, "lower": lower, "release": release}, index=idx)


class GaugeWindows(Dataset):
    """72 hours of readings -> level at `lower` six hours later."""

    def __init__(self, frame, length=72, ahead=6):
        self.frame = frame
        self.length, self.ahead = length, ahead
        self.cols = list(frame.columns)
        self.mu, self.sd = frame.mean(), frame.std()

    def __len__(self):
        return len(self.frame) - self.length - self.ahead

    def __getitem__(self, i):
        part = self.frame.iloc[i:i + self.length]
        vals = (part[self.cols] - self.mu) / self.sd
        day = 2 * np.pi * part.index.dayofyear / 365.25
        x = np.column_stack([vals.values, np.sin(day), np.cos(day)])
        target = self.frame["lower"].iloc[i + self.length + self.ahead - 1]
        y = (target - self.mu["lower"]) / self.sd["lower"]
        return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class LevelNet(nn.Module):
    def __init__(self, n_in=8, hidden=64):
        super().__init__()
        self.rnn = nn.GRU(n_in, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1]).squeeze(-1)


data = GaugeWindows(gauges)
cut = int(0.85 * len(data))
train = DataLoader(Subset(data, range(cut)), batch_size=64, shuffle=True)
valid = DataLoader(Subset(data, range(cut, len(data))), batch_size=256)

net = LevelNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(2):
    net.train()
    total = 0.0
    for x, y in train:
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    net.eval()
    err = 0.0
    with torch.no_grad():
        for x, y in valid:
            err += (net(x) - y).abs().sum().item()
    print(f"epoch {epoch}: train mse {total / cut:.3f}  valid mae {err / (len(data) - cut):.3f}")
'''
CURED = FAULTY.replace('''        self.mu, self.sd = frame.mean(), frame.std()
''', '''        self.mu, self.sd = frame.mean(), frame.std()
        day = 2 * np.pi * frame.index.dayofyear / 365.25
        vals = (frame - self.mu) / self.sd
        self.x = torch.tensor(np.column_stack([vals.values, np.sin(day), np.cos(day)]), dtype=torch.float32)
        self.y = torch.tensor(vals["lower"].values, dtype=torch.float32)
''').replace('''        part = self.frame.iloc[i:i + self.length]
        vals = (part[self.cols] - self.mu) / self.sd
        day = 2 * np.pi * part.index.dayofyear / 365.25
        x = np.column_stack([vals.values, np.sin(day), np.cos(day)])
        target = self.frame["lower"].iloc[i + self.length + self.ahead - 1]
        y = (target - self.mu["lower"]) / self.sd["lower"]
        return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
''', '''        return self.x[i:i + self.length], self.y[i + self.length + self.ahead - 1]
''')
