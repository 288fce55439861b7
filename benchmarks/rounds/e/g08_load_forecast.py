NAME = 'g08_load_forecast'
FAULT = 'Every item of the data set cuts its window out of the DataFrame with iloc and column selection, hundreds of microseconds of pandas for each sample of each epoch.'
CURE = 'Turn the columns into one float tensor in __init__ and slice that.'
KIND = 'time'
FAULT_LINES = [
    '        w = self.df.iloc[i:i + self.hist][self.cols].values',
    '        tgt = self.df["load"].iloc[i + self.hist:i + self.hist + self.horizon].values',
]
FAULT_CALLS = ['pandas.DataFrame.iloc', 'pandas.DataFrame.__getitem__', 'pandas.DataFrame.values', 'WindowDataset.__getitem__']

FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(0)

# ---- one year of hourly grid load ------------------------------------------------
idx = pd.date_range("2023-01-01", periods=24 * 300, freq="h")
rng = np.random.default_rng(0)
df = pd.DataFrame(index=idx)
df["temp"] = 10 + 9 * np.sin(2 * np.pi * (idx.day_of_year - 110) / 365) + rng.normal(0, 2, len(idx))
df["load"] = (50 + 12 * np.sin(2 * np.pi * (idx.hour - 7) / 24) - 0.6 * df["temp"]
              - 6 * (idx.day_of_week >= 5) + rng.normal(0, 1.5, len(idx)))
df["hour_sin"] = np.sin(2 * np.pi * idx.hour / 24)
df["hour_cos"] = np.cos(2 * np.pi * idx.hour / 24)
df["weekend"] = (idx.day_of_week >= 5).astype(float)
for c in ("temp", "load"):
    df[c] = (df[c] - df[c].mean()) / df[c].std()


class WindowDataset(Dataset):
    def __init__(self, df, hist=36, horizon=6):
        self.df = df
        self.cols = ["load", "temp", "hour_sin", "hour_cos", "weekend"]
        self.hist, self.horizon = hist, horizon

    def __len__(self):
        return len(self.df) - self.hist - self.horizon

    def __getitem__(self, i):
        w = self.df.iloc[i:i + self.hist][self.cols].values
        tgt = self.df["load"].iloc[i + self.hist:i + self.hist + self.horizon].values
        return torch.tensor(w, dtype=torch.float32), torch.tensor(tgt, dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, d_in=5, d=40, horizon=6):
        super().__init__()
        self.rnn = nn.GRU(d_in, d, batch_first=True)
        self.out = nn.Linear(d, horizon)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1])


split = 24 * 250
train = DataLoader(WindowDataset(df.iloc[:split]), batch_size=64, shuffle=True)
test = DataLoader(WindowDataset(df.iloc[split:]), batch_size=256)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    tot = 0.0
    for xb, yb in train:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        err = torch.cat([(model(xb) - yb).abs() for xb, yb in test])
    print(f"epoch {epoch}: train mse {tot / len(train.dataset):.4f}, test mae by step", err.mean(0).numpy().round(3))
'''

CURED = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(0)

# ---- one year of hourly grid load ------------------------------------------------
idx = pd.date_range("2023-01-01", periods=24 * 300, freq="h")
rng = np.random.default_rng(0)
df = pd.DataFrame(index=idx)
df["temp"] = 10 + 9 * np.sin(2 * np.pi * (idx.day_of_year - 110) / 365) + rng.normal(0, 2, len(idx))
df["load"] = (50 + 12 * np.sin(2 * np.pi * (idx.hour - 7) / 24) - 0.6 * df["temp"]
              - 6 * (idx.day_of_week >= 5) + rng.normal(0, 1.5, len(idx)))
df["hour_sin"] = np.sin(2 * np.pi * idx.hour / 24)
df["hour_cos"] = np.cos(2 * np.pi * idx.hour / 24)
df["weekend"] = (idx.day_of_week >= 5).astype(float)
for c in ("temp", "load"):
    df[c] = (df[c] - df[c].mean()) / df[c].std()


class WindowDataset(Dataset):
    def __init__(self, df, hist=36, horizon=6):
        self.df = df
        self.cols = ["load", "temp", "hour_sin", "hour_cos", "weekend"]
        self.x = torch.tensor(df[self.cols].values, dtype=torch.float32)
        self.y = torch.tensor(df["load"].values, dtype=torch.float32)
        self.hist, self.horizon = hist, horizon

    def __len__(self):
        return len(self.df) - self.hist - self.horizon

    def __getitem__(self, i):
        return self.x[i:i + self.hist], self.y[i + self.hist:i + self.hist + self.horizon]


class Forecaster(nn.Module):
    def __init__(self, d_in=5, d=40, horizon=6):
        super().__init__()
        self.rnn = nn.GRU(d_in, d, batch_first=True)
        self.out = nn.Linear(d, horizon)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1])


split = 24 * 250
train = DataLoader(WindowDataset(df.iloc[:split]), batch_size=64, shuffle=True)
test = DataLoader(WindowDataset(df.iloc[split:]), batch_size=256)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    tot = 0.0
    for xb, yb in train:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        err = torch.cat([(model(xb) - yb).abs() for xb, yb in test])
    print(f"epoch {epoch}: train mse {tot / len(train.dataset):.4f}, test mae by step", err.mean(0).numpy().round(3))
'''
