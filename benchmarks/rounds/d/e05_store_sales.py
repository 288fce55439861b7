NAME = 'e05_store_sales'

FAULT = 'Rolling statistics are computed with .apply and a Python lambda per window instead of the built-in rolling methods of pandas.'

CURE = 'Use .rolling(w).mean(), .std() and .min() directly.'

KIND = 'time'

FAULT_LINES = [
    '        feats[f"mean{w}"] = roll.apply(lambda s: s.mean())',
    '        feats[f"std{w}"] = roll.apply(lambda s: s.std())',
    '        feats[f"min{w}"] = roll.apply(lambda s: s.min())',
]

FAULT_CALLS = [
    'RollingGroupby.apply',
    'Rolling.apply',
    'Series.mean',
    'Series.std',
    'Series.min',
]

FAULTY = r'''
# # Daily sales: lag / rolling features + small MLP forecaster
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
rng = np.random.default_rng(5)
torch.manual_seed(5)

n_stores, n_days = 110, 400
days = pd.date_range("2021-01-01", periods=n_days)
frames = []
for s in range(n_stores):
    base = rng.uniform(50, 200)
    season = 1 + 0.3 * np.sin(2 * np.pi * np.arange(n_days) / 7 + rng.uniform(0, 6))
    trend = 1 + 0.0008 * np.arange(n_days) * rng.normal()
    sales = base * season * trend + rng.normal(0, base * 0.1, n_days)
    frames.append(pd.DataFrame({"store": s, "date": days, "sales": sales}))
df = pd.concat(frames, ignore_index=True)


def make_features(df, windows=(7, 28)):
    g = df.groupby("store")["sales"]
    feats = {"lag1": g.shift(1), "lag7": g.shift(7)}
    for w in windows:
        roll = df.groupby("store")["lag1"].rolling(w)
        feats[f"mean{w}"] = roll.apply(lambda s: s.mean())
        feats[f"std{w}"] = roll.apply(lambda s: s.std())
        feats[f"min{w}"] = roll.apply(lambda s: s.min())
    out = pd.DataFrame({k: v.to_numpy() for k, v in feats.items()}, index=df.index)
    out["dow"] = df["date"].dt.day_of_week
    return out


df["lag1"] = df.groupby("store")["sales"].shift(1)
X = make_features(df)
ok = X.notna().all(axis=1)
X, y, date = X[ok], df.loc[ok, "sales"], df.loc[ok, "date"]
print("feature table", X.shape)

split = pd.Timestamp("2021-12-01")
tr = (date < split).to_numpy(copy=True)
te = ~tr
mu, sd = X[tr].mean(), X[tr].std()
Xt = torch.tensor(((X - mu) / sd).to_numpy(), dtype=torch.float32)
scale = float(y[tr].std())
yt = torch.tensor((y / scale).to_numpy(), dtype=torch.float32)
Xtr, ytr = Xt[tr], yt[tr]
Xte, yte = Xt[te], yt[te]

net = nn.Sequential(nn.Linear(Xt.shape[1], 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(6):
    for idx in torch.randperm(len(Xtr)).split(256):
        loss = nn.functional.l1_loss(net(Xtr[idx]).squeeze(1), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        mae = (net(Xte).squeeze(1) - yte).abs().mean().item() * scale
    print(f"epoch {epoch}  test MAE {mae:.3f}")
naive = (y[te] - X.loc[te, "lag7"]).abs().mean()
print(f"weekly naive MAE {naive:.3f}")
'''

CURED = r'''
# # Daily sales: lag / rolling features + small MLP forecaster
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
rng = np.random.default_rng(5)
torch.manual_seed(5)

n_stores, n_days = 110, 400
days = pd.date_range("2021-01-01", periods=n_days)
frames = []
for s in range(n_stores):
    base = rng.uniform(50, 200)
    season = 1 + 0.3 * np.sin(2 * np.pi * np.arange(n_days) / 7 + rng.uniform(0, 6))
    trend = 1 + 0.0008 * np.arange(n_days) * rng.normal()
    sales = base * season * trend + rng.normal(0, base * 0.1, n_days)
    frames.append(pd.DataFrame({"store": s, "date": days, "sales": sales}))
df = pd.concat(frames, ignore_index=True)


def make_features(df, windows=(7, 28)):
    g = df.groupby("store")["sales"]
    feats = {"lag1": g.shift(1), "lag7": g.shift(7)}
    for w in windows:
        roll = df.groupby("store")["lag1"].rolling(w)
        feats[f"mean{w}"] = roll.mean()
        feats[f"std{w}"] = roll.std()
        feats[f"min{w}"] = roll.min()
    out = pd.DataFrame({k: v.to_numpy() for k, v in feats.items()}, index=df.index)
    out["dow"] = df["date"].dt.day_of_week
    return out


df["lag1"] = df.groupby("store")["sales"].shift(1)
X = make_features(df)
ok = X.notna().all(axis=1)
X, y, date = X[ok], df.loc[ok, "sales"], df.loc[ok, "date"]
print("feature table", X.shape)

split = pd.Timestamp("2021-12-01")
tr = (date < split).to_numpy(copy=True)
te = ~tr
mu, sd = X[tr].mean(), X[tr].std()
Xt = torch.tensor(((X - mu) / sd).to_numpy(), dtype=torch.float32)
scale = float(y[tr].std())
yt = torch.tensor((y / scale).to_numpy(), dtype=torch.float32)
Xtr, ytr = Xt[tr], yt[tr]
Xte, yte = Xt[te], yt[te]

net = nn.Sequential(nn.Linear(Xt.shape[1], 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(6):
    for idx in torch.randperm(len(Xtr)).split(256):
        loss = nn.functional.l1_loss(net(Xtr[idx]).squeeze(1), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        mae = (net(Xte).squeeze(1) - yte).abs().mean().item() * scale
    print(f"epoch {epoch}  test MAE {mae:.3f}")
naive = (y[te] - X.loc[te, "lag7"]).abs().mean()
print(f"weekly naive MAE {naive:.3f}")
'''
