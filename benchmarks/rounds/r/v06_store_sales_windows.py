NAME = 'Forecasts daily store sales with an MLP on windows that a Dataset cuts out of one long pandas table.'
FAULT = "Each item filters the whole table with boolean conditions to find one store's window."
CURE = 'Group the table once by store into arrays in the constructor and slice these in __getitem__.'
KIND = 'time'
FAULT_LINES = ['rows = self.df[(self.df["store"] == store) & (self.df["day"] >= day) & (self.df["day"] < day + LOOKBACK + HORIZON)]', 'values = rows[COLS].to_numpy(dtype=np.float32)']
FAULT_CALLS = ['__getitem__', 'eq', 'ge', 'lt', 'and', 'take', 'to_numpy']

FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2)
rs = np.random.RandomState(2)

N_STORES, N_DAYS, LOOKBACK, HORIZON = 150, 400, 56, 7
COLS = ["sales", "promo", "dow_sin", "dow_cos"]


def make_table():
    frames = []
    days = np.arange(N_DAYS)
    for s in range(N_STORES):
        promo = (rs.rand(N_DAYS) < 0.2).astype(np.float32)
        week = np.sin(2 * np.pi * (days + rs.randint(7)) / 7)
        sales = 1 + 0.4 * week + 0.5 * promo + 0.002 * days * rs.randn() + 0.1 * rs.randn(N_DAYS)
        frames.append(pd.DataFrame({
            "store": s, "day": days, "sales": sales, "promo": promo,
            "dow_sin": np.sin(2 * np.pi * days / 7), "dow_cos": np.cos(2 * np.pi * days / 7)}))
    return pd.concat(frames, ignore_index=True)


class SalesWindows(Dataset):
    def __init__(self, df, first_day, last_day, per_store):
        self.df = df
        starts = rs.randint(first_day, last_day - LOOKBACK - HORIZON, size=(N_STORES, per_store))
        self.keys = [(s, int(d)) for s in range(N_STORES) for d in starts[s]]

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, i):
        store, day = self.keys[i]
        rows = self.df[(self.df["store"] == store) & (self.df["day"] >= day) & (self.df["day"] < day + LOOKBACK + HORIZON)]
        values = rows[COLS].to_numpy(dtype=np.float32)
        x = torch.from_numpy(values[:LOOKBACK].reshape(-1))
        y = torch.from_numpy(values[LOOKBACK:, 0].copy())
        return x, y


table = make_table()
train_dl = DataLoader(SalesWindows(table, 0, 320, 16), batch_size=64, shuffle=True)
test_dl = DataLoader(SalesWindows(table, 250, N_DAYS, 4), batch_size=200)

model = nn.Sequential(
    nn.Linear(LOOKBACK * len(COLS), 896), nn.ReLU(),
    nn.Linear(896, 896), nn.ReLU(),
    nn.Linear(896, 896), nn.ReLU(),
    nn.Linear(896, HORIZON))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
loss_fn = nn.SmoothL1Loss()

for epoch in range(6):
    model.train()
    total = 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for x, y in test_dl:
            err += (model(x) - y).abs().sum().item()
            n += y.numel()
    print(f"epoch {epoch}  train {total / len(train_dl.dataset):.4f}  test MAE {err / n:.4f}")
'''

CURED = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2)
rs = np.random.RandomState(2)

N_STORES, N_DAYS, LOOKBACK, HORIZON = 150, 400, 56, 7
COLS = ["sales", "promo", "dow_sin", "dow_cos"]


def make_table():
    frames = []
    days = np.arange(N_DAYS)
    for s in range(N_STORES):
        promo = (rs.rand(N_DAYS) < 0.2).astype(np.float32)
        week = np.sin(2 * np.pi * (days + rs.randint(7)) / 7)
        sales = 1 + 0.4 * week + 0.5 * promo + 0.002 * days * rs.randn() + 0.1 * rs.randn(N_DAYS)
        frames.append(pd.DataFrame({
            "store": s, "day": days, "sales": sales, "promo": promo,
            "dow_sin": np.sin(2 * np.pi * days / 7), "dow_cos": np.cos(2 * np.pi * days / 7)}))
    return pd.concat(frames, ignore_index=True)


class SalesWindows(Dataset):
    def __init__(self, df, first_day, last_day, per_store):
        self.by_store = {s: g[COLS].to_numpy(dtype=np.float32) for s, g in df.groupby("store")}
        starts = rs.randint(first_day, last_day - LOOKBACK - HORIZON, size=(N_STORES, per_store))
        self.keys = [(s, int(d)) for s in range(N_STORES) for d in starts[s]]

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, i):
        store, day = self.keys[i]
        values = self.by_store[store][day:day + LOOKBACK + HORIZON]
        x = torch.from_numpy(values[:LOOKBACK].reshape(-1))
        y = torch.from_numpy(values[LOOKBACK:, 0].copy())
        return x, y


table = make_table()
train_dl = DataLoader(SalesWindows(table, 0, 320, 16), batch_size=64, shuffle=True)
test_dl = DataLoader(SalesWindows(table, 250, N_DAYS, 4), batch_size=200)

model = nn.Sequential(
    nn.Linear(LOOKBACK * len(COLS), 896), nn.ReLU(),
    nn.Linear(896, 896), nn.ReLU(),
    nn.Linear(896, 896), nn.ReLU(),
    nn.Linear(896, HORIZON))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
loss_fn = nn.SmoothL1Loss()

for epoch in range(6):
    model.train()
    total = 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for x, y in test_dl:
            err += (model(x) - y).abs().sum().item()
            n += y.numel()
    print(f"epoch {epoch}  train {total / len(train_dl.dataset):.4f}  test MAE {err / n:.4f}")
'''
