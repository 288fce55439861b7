NAME = 'Forecasts the electrical load of the next hours from a pandas frame of weather and calendar columns with a GRU.'
FAULT = 'Every item of the dataset slices the pandas frame by rows and columns and converts the slice, which costs far more than the slice itself.'
CURE = 'Convert the columns to float32 tensors once in the constructor and slice the tensors.'
KIND = 'time'
FAULT_LINES = ['past = self.frame.iloc[i:i + HISTORY]', 'x = torch.tensor(past[FEATURES].to_numpy(dtype=np.float32))', 'ahead = self.frame.iloc[i + HISTORY:i + HISTORY + HORIZON]', 'y = torch.tensor(ahead["load"].to_numpy(dtype=np.float32))']
FAULT_CALLS = ['__getitem__', 'iloc', 'DataFrame.__getitem__', 'to_numpy']
FAULTY = r'''import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

HISTORY, HORIZON = 48, 6
FEATURES = ["load", "temperature", "wind", "hour_sin", "hour_cos", "weekend"]


def make_frame(hours=9000):
    index = pd.date_range("2023-01-01", periods=hours, freq="h")
    hour = index.hour.to_numpy()
    day = np.arange(hours) / 24
    temperature = 10 - 12 * np.cos(2 * np.pi * day / 365) + 4 * np.sin(2 * np.pi * (hour - 8) / 24)
    temperature = temperature + np.convolve(rng.normal(0, 1.5, hours), np.ones(12) / 3.5, mode="same")
    weekend = (index.day_of_week >= 5).astype(float)
    load = 50 + 12 * np.sin(2 * np.pi * (hour - 6) / 24) - 7 * weekend + 0.6 * np.abs(temperature - 17)
    return pd.DataFrame({
        "load": load + rng.normal(0, 1.2, hours),
        "temperature": temperature,
        "wind": rng.gamma(2.0, 2.5, hours),
        "hour_sin": np.sin(2 * np.pi * hour / 24),
        "hour_cos": np.cos(2 * np.pi * hour / 24),
        "weekend": weekend,
    }, index=index)


class LoadWindows(Dataset):
    def __init__(self, frame):
        self.frame = frame

    def __len__(self):
        return len(self.frame) - HISTORY - HORIZON + 1

    def __getitem__(self, i):
        past = self.frame.iloc[i:i + HISTORY]
        ahead = self.frame.iloc[i + HISTORY:i + HISTORY + HORIZON]
        x = torch.tensor(past[FEATURES].to_numpy(dtype=np.float32))
        y = torch.tensor(ahead["load"].to_numpy(dtype=np.float32))
        return x, y


class Forecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.gru = nn.GRU(len(FEATURES), hidden, batch_first=True)
        self.head = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


frame = make_frame()
scaled = frame.copy()
for column in ["load", "temperature", "wind"]:
    scaled[column] = (frame[column] - frame[column][:7000].mean()) / frame[column][:7000].std()
train_loader = DataLoader(LoadWindows(scaled.iloc[:7000]), batch_size=64, shuffle=True)
test_loader = DataLoader(LoadWindows(scaled.iloc[7000:]), batch_size=250)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sigma = frame["load"][:7000].std()
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        loss = nn.functional.l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        errors = torch.cat([(model(x) - y).abs() for x, y in test_loader])
    by_hour = "  ".join(f"{e:.2f}" for e in (errors.mean(0) * sigma).tolist())
    print(f"epoch {epoch}  test MAE by hour ahead: {by_hour}")
'''
CURED = r'''import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

HISTORY, HORIZON = 48, 6
FEATURES = ["load", "temperature", "wind", "hour_sin", "hour_cos", "weekend"]


def make_frame(hours=9000):
    index = pd.date_range("2023-01-01", periods=hours, freq="h")
    hour = index.hour.to_numpy()
    day = np.arange(hours) / 24
    temperature = 10 - 12 * np.cos(2 * np.pi * day / 365) + 4 * np.sin(2 * np.pi * (hour - 8) / 24)
    temperature = temperature + np.convolve(rng.normal(0, 1.5, hours), np.ones(12) / 3.5, mode="same")
    weekend = (index.day_of_week >= 5).astype(float)
    load = 50 + 12 * np.sin(2 * np.pi * (hour - 6) / 24) - 7 * weekend + 0.6 * np.abs(temperature - 17)
    return pd.DataFrame({
        "load": load + rng.normal(0, 1.2, hours),
        "temperature": temperature,
        "wind": rng.gamma(2.0, 2.5, hours),
        "hour_sin": np.sin(2 * np.pi * hour / 24),
        "hour_cos": np.cos(2 * np.pi * hour / 24),
        "weekend": weekend,
    }, index=index)


class LoadWindows(Dataset):
    def __init__(self, frame):
        self.features = torch.tensor(frame[FEATURES].to_numpy(dtype=np.float32))
        self.load = torch.tensor(frame["load"].to_numpy(dtype=np.float32))

    def __len__(self):
        return len(self.features) - HISTORY - HORIZON + 1

    def __getitem__(self, i):
        x = self.features[i:i + HISTORY]
        y = self.load[i + HISTORY:i + HISTORY + HORIZON]
        return x, y


class Forecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.gru = nn.GRU(len(FEATURES), hidden, batch_first=True)
        self.head = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


frame = make_frame()
scaled = frame.copy()
for column in ["load", "temperature", "wind"]:
    scaled[column] = (frame[column] - frame[column][:7000].mean()) / frame[column][:7000].std()
train_loader = DataLoader(LoadWindows(scaled.iloc[:7000]), batch_size=64, shuffle=True)
test_loader = DataLoader(LoadWindows(scaled.iloc[7000:]), batch_size=250)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sigma = frame["load"][:7000].std()
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        loss = nn.functional.l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        errors = torch.cat([(model(x) - y).abs() for x, y in test_loader])
    by_hour = "  ".join(f"{e:.2f}" for e in (errors.mean(0) * sigma).tolist())
    print(f"epoch {epoch}  test MAE by hour ahead: {by_hour}")
'''
