NAME = "Trains an N-BEATS-like forecaster of weekly cases from a table of counties and weeks, with a Dataset that cuts windows from the table."
FAULT = "Every item drawn by the Dataset scans the whole table with a boolean mask to find one county's rows and converts them anew, though the table never changes."
CURE = "Split the table once by county into float32 arrays in __init__ and look the county up in __getitem__."
KIND = "time"
FAULT_LINES = ['block = self.table.loc[self.table["county"] == county, COLS].to_numpy(np.float32)']
FAULT_CALLS = ["__getitem__", "loc", "_LocIndexer.__getitem__", "eq", "comparison_op", "take", "to_numpy"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

N_COUNTIES, N_WEEKS, LOOKBACK, HORIZON = 150, 156, 26, 4
COLS = ["cases", "tests", "mobility"]


def make_surveillance_table():
    """Weekly reports per county: seasonal waves with a county-specific phase."""
    parts = []
    week = np.arange(N_WEEKS)
    for c in range(N_COUNTIES):
        phase, level = rng.uniform(0, 52), rng.lognormal(3.5, 0.7)
        wave = np.exp(1.2 * np.sin(2 * np.pi * (week - phase) / 52))
        mobility = 0.2 * np.sin(2 * np.pi * week / 26) + rng.normal(0, 0.05, N_WEEKS)
        cases = rng.poisson(level * wave * np.exp(mobility))
        tests = rng.poisson(level * 12 + 3 * cases)
        parts.append(pd.DataFrame({
            "county": 1000 + c, "week": week,
            "cases": np.log1p(cases), "tests": np.log1p(tests), "mobility": mobility,
        }))
    return pd.concat(parts, ignore_index=True).sort_values(["week", "county"], ignore_index=True)


class CountyWindows(Dataset):
    def __init__(self, table, first, last):
        self.table = table
        counties = table["county"].unique()
        self.index = [(c, t) for c in counties for t in range(first, last, 3)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        county, t = self.index[i]
        block = self.table.loc[self.table["county"] == county, COLS].to_numpy(np.float32)
        past = block[t - LOOKBACK:t].copy()
        future = block[t:t + HORIZON, 0].copy()
        return torch.from_numpy(past), torch.from_numpy(future)


class Block(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(d_in, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
        )
        self.backcast = nn.Linear(width, d_in)
        self.forecast = nn.Linear(width, HORIZON)

    def forward(self, x):
        h = self.body(x)
        return x - self.backcast(h), self.forecast(h)


class NBeats(nn.Module):
    def __init__(self, d_in, width=384, n_blocks=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block(d_in, width) for _ in range(n_blocks))

    def forward(self, x):
        x = x.flatten(1)
        total = x[:, -3:-2].expand(-1, HORIZON)
        for block in self.blocks:
            x, y = block(x)
            total = total + y
        return total


table = make_surveillance_table()
train = CountyWindows(table, LOOKBACK, 120)
valid = CountyWindows(table, 124, N_WEEKS - HORIZON)
train_loader = DataLoader(train, batch_size=64, shuffle=True, drop_last=True)
valid_loader = DataLoader(valid, batch_size=256)
print(f"{len(table)} rows, {len(train)} training windows, {len(valid)} validation windows")

model = NBeats(LOOKBACK * len(COLS))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
loss_fn = nn.SmoothL1Loss()

for epoch in range(2):
    model.train()
    running = 0.0
    for past, future in train_loader:
        loss = loss_fn(model(past), future)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    err = []
    with torch.no_grad():
        for past, future in valid_loader:
            err.append((model(past) - future).abs().mean(dim=1))
    print(f"epoch {epoch}: train {running / len(train_loader):.4f}  valid MAE {torch.cat(err).mean():.4f}")
'''
CURED = FAULTY.replace('''        self.table = table
''', '''        self.series = {c: g[COLS].to_numpy(np.float32) for c, g in table.groupby("county")}
''').replace('''        block = self.table.loc[self.table["county"] == county, COLS].to_numpy(np.float32)
''', '''        block = self.series[county]
''')
