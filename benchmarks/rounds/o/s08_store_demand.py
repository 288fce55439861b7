NAME = 'Store demand forecast (Kaggle style): group features with pandas, then an MLP'
FAULT = 'The group features are made with transform(lambda ...), which runs a chain of small pandas operations in Python for each of the thousands of store-item groups'
CURE = "Use the built-in group operations (transform('mean'), transform('std'), shift, rank) on whole columns"
KIND = 'time'
FAULT_LINES = ['df["z"] = g["sales"].transform(lambda s: (s - s.mean()) / (s.std() + 1e-3))', 'df["lag1"] = g["z"].transform(lambda s: s.shift(1).fillna(0.0))', 'df["lag7"] = g["z"].transform(lambda s: s.shift(7).fillna(0.0))', 'df["price_rank"] = g["price"].transform(lambda s: s.rank(pct=True))']
FAULT_CALLS = ['transform', 'lambda', 'groupby', 'shift', 'rank', 'fillna']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import mean_absolute_error

torch.set_num_threads(1)
torch.manual_seed(2024)
rng = np.random.default_rng(2024)

# ------------------------------------------------------------------ data
n_store, n_item, n_day = 40, 60, 56
idx = pd.MultiIndex.from_product([range(n_store), range(n_item), range(n_day)], names=["store", "item", "day"])
df = pd.DataFrame(index=idx).reset_index()
base = rng.gamma(3.0, 6.0, (n_store, n_item))
week = 1 + 0.35 * np.sin(2 * np.pi * np.arange(7) / 7)
df["price"] = np.round(rng.uniform(2, 9, len(df)), 2)
lam = base[df["store"], df["item"]] * week[df["day"] % 7] * (1.25 - 0.05 * df["price"])
df["sales"] = rng.poisson(lam).astype(float)
print(df.shape, "rows; mean sales", round(df["sales"].mean(), 3))

# -------------------------------------------------------------- features
df = df.sort_values(["store", "item", "day"], ignore_index=True)
g = df.groupby(["store", "item"])
df["z"] = g["sales"].transform(lambda s: (s - s.mean()) / (s.std() + 1e-3))
g = df.groupby(["store", "item"])
df["lag1"] = g["z"].transform(lambda s: s.shift(1).fillna(0.0))
df["lag7"] = g["z"].transform(lambda s: s.shift(7).fillna(0.0))
df["price_rank"] = g["price"].transform(lambda s: s.rank(pct=True))
dow = np.eye(7, dtype=np.float32)[df["day"] % 7]

num = ["lag1", "lag7", "price_rank", "price"]
X = np.hstack([df[num].to_numpy(np.float32), dow])
y = df["z"].to_numpy(np.float32)
past = (df["day"] < 49).to_numpy()
mu, sd = X[past].mean(0), X[past].std(0) + 1e-6
X = (X - mu) / sd
Xtr, ytr = torch.from_numpy(X[past]), torch.from_numpy(y[past])
Xte, yte = torch.from_numpy(X[~past]), torch.from_numpy(y[~past])

# ----------------------------------------------------------------- model
net = nn.Sequential(nn.Linear(X.shape[1], 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.SmoothL1Loss()
for epoch in range(2):
    perm = torch.randperm(len(Xtr))
    total = 0.0
    for b in perm.split(2048):
        loss = loss_fn(net(Xtr[b]).squeeze(1), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    with torch.no_grad():
        pred = net(Xte).squeeze(1)
    print(f"epoch {epoch}: train {total / len(Xtr):.4f}  test MAE {mean_absolute_error(yte.numpy(), pred.numpy()):.4f}")

print("naive (lag 7) MAE", round(float((df.loc[~past, "lag7"] - df.loc[~past, "z"]).abs().mean()), 4))
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import mean_absolute_error

torch.set_num_threads(1)
torch.manual_seed(2024)
rng = np.random.default_rng(2024)

# ------------------------------------------------------------------ data
n_store, n_item, n_day = 40, 60, 56
idx = pd.MultiIndex.from_product([range(n_store), range(n_item), range(n_day)], names=["store", "item", "day"])
df = pd.DataFrame(index=idx).reset_index()
base = rng.gamma(3.0, 6.0, (n_store, n_item))
week = 1 + 0.35 * np.sin(2 * np.pi * np.arange(7) / 7)
df["price"] = np.round(rng.uniform(2, 9, len(df)), 2)
lam = base[df["store"], df["item"]] * week[df["day"] % 7] * (1.25 - 0.05 * df["price"])
df["sales"] = rng.poisson(lam).astype(float)
print(df.shape, "rows; mean sales", round(df["sales"].mean(), 3))

# -------------------------------------------------------------- features
df = df.sort_values(["store", "item", "day"], ignore_index=True)
g = df.groupby(["store", "item"])
df["z"] = (df["sales"] - g["sales"].transform("mean")) / (g["sales"].transform("std") + 1e-3)
g = df.groupby(["store", "item"])
df["lag1"] = g["z"].shift(1).fillna(0.0)
df["lag7"] = g["z"].shift(7).fillna(0.0)
df["price_rank"] = g["price"].rank(pct=True)
dow = np.eye(7, dtype=np.float32)[df["day"] % 7]

num = ["lag1", "lag7", "price_rank", "price"]
X = np.hstack([df[num].to_numpy(np.float32), dow])
y = df["z"].to_numpy(np.float32)
past = (df["day"] < 49).to_numpy()
mu, sd = X[past].mean(0), X[past].std(0) + 1e-6
X = (X - mu) / sd
Xtr, ytr = torch.from_numpy(X[past]), torch.from_numpy(y[past])
Xte, yte = torch.from_numpy(X[~past]), torch.from_numpy(y[~past])

# ----------------------------------------------------------------- model
net = nn.Sequential(nn.Linear(X.shape[1], 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.SmoothL1Loss()
for epoch in range(2):
    perm = torch.randperm(len(Xtr))
    total = 0.0
    for b in perm.split(2048):
        loss = loss_fn(net(Xtr[b]).squeeze(1), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
    with torch.no_grad():
        pred = net(Xte).squeeze(1)
    print(f"epoch {epoch}: train {total / len(Xtr):.4f}  test MAE {mean_absolute_error(yte.numpy(), pred.numpy()):.4f}")

print("naive (lag 7) MAE", round(float((df.loc[~past, "lag7"] - df.loc[~past, "z"]).abs().mean()), 4))
"""
