NAME = 'Trains a small network on a pandas table of taxi rides with a DataLoader.'
FAULT = '__getitem__ takes a row out of the DataFrame with iloc (and columns out of that row), which makes pandas objects for every sample.'
CURE = 'Turn the columns into tensors once in __init__ and index those.'
KIND = 'time'
FAULT_LINES = [
    'row = self.df.iloc[i]',
    'x = torch.tensor(row[self.columns].to_numpy(dtype="float32"))',
    'return x, torch.tensor(row["tip"], dtype=torch.float32)',
    'def __getitem__(self, i):',
    'for x, y in loader:',
]
FAULT_CALLS = [
    'RideData.__getitem__',
    'pandas.DataFrame.iloc',
    '_iLocIndexer.__getitem__',
    'Series.__getitem__',
    'DataLoader.__next__',
    '_MapDatasetFetcher.fetch',
]

FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

n = 12_000
rides = pd.DataFrame({
    "distance": rng.gamma(2.0, 1.8, n),
    "duration": rng.gamma(3.0, 5.0, n),
    "hour": rng.integers(0, 24, n).astype("float64"),
    "passengers": rng.integers(1, 6, n).astype("float64"),
    "surge": rng.choice([1.0, 1.2, 1.5, 2.0], n, p=[0.7, 0.15, 0.1, 0.05]),
    "airport": rng.integers(0, 2, n).astype("float64"),
    "card": rng.integers(0, 2, n).astype("float64"),
})
rides["fare"] = 2.5 + 1.6 * rides["distance"] * rides["surge"] + 0.3 * rides["duration"]
rides["tip"] = rides["card"] * (0.18 * rides["fare"] + rng.normal(0, 0.5, n)).clip(lower=0)

features = ["distance", "duration", "hour", "passengers", "surge", "airport", "card", "fare"]
rides[features] = (rides[features] - rides[features].mean()) / rides[features].std()
train, valid = rides.iloc[:10_000].reset_index(drop=True), rides.iloc[10_000:].reset_index(drop=True)


class RideData(Dataset):
    def __init__(self, df, columns):
        self.df = df
        self.columns = columns

    def __len__(self):
        return len(self.df)

    def __getitem__(self, i):
        row = self.df.iloc[i]
        x = torch.tensor(row[self.columns].to_numpy(dtype="float32"))
        return x, torch.tensor(row["tip"], dtype=torch.float32)


net = nn.Sequential(nn.Linear(len(features), 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
loader = DataLoader(RideData(train, features), batch_size=250, shuffle=True)

for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.huber_loss(net(x).squeeze(-1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

with torch.no_grad():
    xv = torch.tensor(valid[features].to_numpy(dtype="float32"))
    pred = net(xv).squeeze(-1).numpy()
mae = np.abs(pred - valid["tip"].to_numpy()).mean()
print(f"mae {mae:.4f}, mean predicted tip {pred.mean():.4f}")
"""

CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

n = 12_000
rides = pd.DataFrame({
    "distance": rng.gamma(2.0, 1.8, n),
    "duration": rng.gamma(3.0, 5.0, n),
    "hour": rng.integers(0, 24, n).astype("float64"),
    "passengers": rng.integers(1, 6, n).astype("float64"),
    "surge": rng.choice([1.0, 1.2, 1.5, 2.0], n, p=[0.7, 0.15, 0.1, 0.05]),
    "airport": rng.integers(0, 2, n).astype("float64"),
    "card": rng.integers(0, 2, n).astype("float64"),
})
rides["fare"] = 2.5 + 1.6 * rides["distance"] * rides["surge"] + 0.3 * rides["duration"]
rides["tip"] = rides["card"] * (0.18 * rides["fare"] + rng.normal(0, 0.5, n)).clip(lower=0)

features = ["distance", "duration", "hour", "passengers", "surge", "airport", "card", "fare"]
rides[features] = (rides[features] - rides[features].mean()) / rides[features].std()
train, valid = rides.iloc[:10_000].reset_index(drop=True), rides.iloc[10_000:].reset_index(drop=True)


class RideData(Dataset):
    def __init__(self, df, columns):
        self.x = torch.tensor(df[columns].to_numpy(dtype="float32"))
        self.y = torch.tensor(df["tip"].to_numpy(dtype="float32"))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


net = nn.Sequential(nn.Linear(len(features), 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
loader = DataLoader(RideData(train, features), batch_size=250, shuffle=True)

for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.huber_loss(net(x).squeeze(-1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()

with torch.no_grad():
    xv = torch.tensor(valid[features].to_numpy(dtype="float32"))
    pred = net(xv).squeeze(-1).numpy()
mae = np.abs(pred - valid["tip"].to_numpy()).mean()
print(f"mae {mae:.4f}, mean predicted tip {pred.mean():.4f}")
"""
