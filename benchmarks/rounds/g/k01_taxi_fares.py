NAME = 'Taxi fare regression from pick-up and drop-off coordinates'
FAULT = 'The haversine distance, bearing and rush-hour features are built row by row with DataFrame.apply(axis=1).'
CURE = 'Compute the features on whole columns with NumPy/pandas expressions.'
KIND = 'time'
FAULT_LINES = [
    'feats = trips.apply(trip_features, axis=1)',
    'def trip_features(row):',
]
FAULT_CALLS = ['DataFrame.apply', 'trip_features']
FAULTY = r"""import math

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

n = 48_000
trips = pd.DataFrame({
    "pickup_lon": rng.normal(-73.98, 0.03, n),
    "pickup_lat": rng.normal(40.75, 0.03, n),
    "drop_lon": rng.normal(-73.97, 0.04, n),
    "drop_lat": rng.normal(40.75, 0.04, n),
    "hour": rng.integers(0, 24, n),
    "weekday": rng.integers(0, 7, n),
    "passengers": rng.integers(1, 5, n),
})


def trip_features(row):
    lat1, lat2 = math.radians(row["pickup_lat"]), math.radians(row["drop_lat"])
    dlon = math.radians(row["drop_lon"] - row["pickup_lon"])
    dlat = lat2 - lat1
    a = math.sin(dlat / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin(dlon / 2) ** 2
    dist = 2 * 6371.0 * math.asin(math.sqrt(a))
    bearing = math.atan2(math.sin(dlon) * math.cos(lat2),
                         math.cos(lat1) * math.sin(lat2) - math.sin(lat1) * math.cos(lat2) * math.cos(dlon))
    rush = float(row["weekday"] < 5 and (7 <= row["hour"] <= 9 or 16 <= row["hour"] <= 19))
    return pd.Series({"dist": dist, "bearing_sin": math.sin(bearing),
                      "bearing_cos": math.cos(bearing), "rush": rush})


feats = trips.apply(trip_features, axis=1)
trips = trips.join(feats)
fare = 2.5 + 1.9 * trips["dist"] * (1 + 0.35 * trips["rush"]) + 0.6 * (trips["hour"] >= 20)
trips["fare"] = fare + rng.normal(0, 0.4, n)

cols = ["dist", "bearing_sin", "bearing_cos", "rush", "hour", "weekday", "passengers"]
X = torch.tensor(trips[cols].to_numpy(), dtype=torch.float32)
y = torch.tensor(trips["fare"].to_numpy(), dtype=torch.float32).unsqueeze(1)
X = (X - X.mean(0)) / X.std(0)
n_train = int(0.85 * n)
Xtr, Xte, ytr, yte = X[:n_train], X[n_train:], y[:n_train], y[n_train:]

net = nn.Sequential(nn.Linear(len(cols), 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.SmoothL1Loss()
for epoch in range(8):
    perm = torch.randperm(n_train)
    running = 0.0
    for idx in perm.split(256):
        loss = loss_fn(net(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    with torch.no_grad():
        mae = (net(Xte) - yte).abs().mean().item()
    print(f"epoch {epoch}: train {running / n_train:.4f}  test MAE {mae:.3f}")

print(trips[["dist", "fare"]].describe().round(3))
"""
CURED = r"""import math

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

n = 48_000
trips = pd.DataFrame({
    "pickup_lon": rng.normal(-73.98, 0.03, n),
    "pickup_lat": rng.normal(40.75, 0.03, n),
    "drop_lon": rng.normal(-73.97, 0.04, n),
    "drop_lat": rng.normal(40.75, 0.04, n),
    "hour": rng.integers(0, 24, n),
    "weekday": rng.integers(0, 7, n),
    "passengers": rng.integers(1, 5, n),
})


def trip_features(df):
    lat1, lat2 = np.radians(df["pickup_lat"]), np.radians(df["drop_lat"])
    dlon = np.radians(df["drop_lon"] - df["pickup_lon"])
    dlat = lat2 - lat1
    a = np.sin(dlat / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin(dlon / 2) ** 2
    dist = 2 * 6371.0 * np.arcsin(np.sqrt(a))
    bearing = np.arctan2(np.sin(dlon) * np.cos(lat2),
                         np.cos(lat1) * np.sin(lat2) - np.sin(lat1) * np.cos(lat2) * np.cos(dlon))
    rush = (df["weekday"] < 5) & (df["hour"].between(7, 9) | df["hour"].between(16, 19))
    return pd.DataFrame({"dist": dist, "bearing_sin": np.sin(bearing),
                         "bearing_cos": np.cos(bearing), "rush": rush.astype(float)})


feats = trip_features(trips)
trips = trips.join(feats)
fare = 2.5 + 1.9 * trips["dist"] * (1 + 0.35 * trips["rush"]) + 0.6 * (trips["hour"] >= 20)
trips["fare"] = fare + rng.normal(0, 0.4, n)

cols = ["dist", "bearing_sin", "bearing_cos", "rush", "hour", "weekday", "passengers"]
X = torch.tensor(trips[cols].to_numpy(), dtype=torch.float32)
y = torch.tensor(trips["fare"].to_numpy(), dtype=torch.float32).unsqueeze(1)
X = (X - X.mean(0)) / X.std(0)
n_train = int(0.85 * n)
Xtr, Xte, ytr, yte = X[:n_train], X[n_train:], y[:n_train], y[n_train:]

net = nn.Sequential(nn.Linear(len(cols), 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.SmoothL1Loss()
for epoch in range(8):
    perm = torch.randperm(n_train)
    running = 0.0
    for idx in perm.split(256):
        loss = loss_fn(net(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    with torch.no_grad():
        mae = (net(Xte) - yte).abs().mean().item()
    print(f"epoch {epoch}: train {running / n_train:.4f}  test MAE {mae:.3f}")

print(trips[["dist", "fare"]].describe().round(3))
"""
