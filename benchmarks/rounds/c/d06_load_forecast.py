NAME = 'd06_load_forecast'
FAULT = 'Every __getitem__ slices the pandas DataFrame and selects columns, so the windows are paid with slow pandas indexing in every epoch.'
CURE = 'Convert the needed columns to one tensor in __init__ and slice the tensor.'
KIND = 'time'
FAULT_LINES = (32, 34, 55)
FAULT_CALLS = ('__getitem__', 'iloc', '__next__')
FAULTY = """\
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

rng = np.random.default_rng(0)
torch.manual_seed(0)

hours = pd.date_range("2021-01-01", periods=5200, freq="h")
df = pd.DataFrame({"ts": hours})
df["temp"] = 10 + 8 * np.sin(np.arange(len(df)) * 2 * np.pi / 24) + rng.normal(0, 1, len(df))
df["wind"] = np.abs(rng.normal(5, 2, len(df)))
df["hour"] = df["ts"].dt.hour / 23.0
df["dow"] = df["ts"].dt.dayofweek / 6.0
df["load"] = 50 - 1.5 * df["temp"] + 6 * df["hour"] + rng.normal(0, 1, len(df))
df["load"] = (df["load"] - df["load"].mean()) / df["load"].std()
df["temp"] = (df["temp"] - df["temp"].mean()) / df["temp"].std()

FEATURES = ["temp", "wind", "hour", "dow", "load"]


class LoadWindows(Dataset):
    def __init__(self, frame, lookback):
        self.frame = frame
        self.lookback = lookback

    def __len__(self):
        return len(self.frame) - self.lookback

    def __getitem__(self, i):
        past = self.frame.iloc[i:i + self.lookback][FEATURES]
        x = torch.tensor(past.values, dtype=torch.float32)
        y = torch.tensor(self.frame["load"].iloc[i + self.lookback], dtype=torch.float32)
        return x, y


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(len(FEATURES), 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.head(h[:, -1]).squeeze(-1)


train = DataLoader(LoadWindows(df, 24), batch_size=128, shuffle=True)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(2):
    losses = []
    for x, y in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print("epoch", epoch, "mse %.4f" % np.mean(losses))
"""
CURED = """\
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

rng = np.random.default_rng(0)
torch.manual_seed(0)

hours = pd.date_range("2021-01-01", periods=5200, freq="h")
df = pd.DataFrame({"ts": hours})
df["temp"] = 10 + 8 * np.sin(np.arange(len(df)) * 2 * np.pi / 24) + rng.normal(0, 1, len(df))
df["wind"] = np.abs(rng.normal(5, 2, len(df)))
df["hour"] = df["ts"].dt.hour / 23.0
df["dow"] = df["ts"].dt.dayofweek / 6.0
df["load"] = 50 - 1.5 * df["temp"] + 6 * df["hour"] + rng.normal(0, 1, len(df))
df["load"] = (df["load"] - df["load"].mean()) / df["load"].std()
df["temp"] = (df["temp"] - df["temp"].mean()) / df["temp"].std()

FEATURES = ["temp", "wind", "hour", "dow", "load"]


class LoadWindows(Dataset):
    def __init__(self, frame, lookback):
        self.frame = frame
        self.values = torch.tensor(frame[FEATURES].values, dtype=torch.float32)
        self.target = torch.tensor(frame["load"].values, dtype=torch.float32)
        self.lookback = lookback

    def __len__(self):
        return len(self.frame) - self.lookback

    def __getitem__(self, i):
        x = self.values[i:i + self.lookback]
        y = self.target[i + self.lookback]
        return x, y


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(len(FEATURES), 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.head(h[:, -1]).squeeze(-1)


train = DataLoader(LoadWindows(df, 24), batch_size=128, shuffle=True)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(2):
    losses = []
    for x, y in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print("epoch", epoch, "mse %.4f" % np.mean(losses))
"""
