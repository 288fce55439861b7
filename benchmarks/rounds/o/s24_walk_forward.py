NAME = 'Walk-forward test of a return forecast with monthly retraining from scratch'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'A new network trained from scratch each month on an expanding window looks wasteful, but the protocol forbids information from later months in weights and scaling; cold starts and per-window scaling are part of it'
GOOD = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from scipy.stats import spearmanr

torch.set_num_threads(1)
rng = np.random.default_rng(66)

# panel: 120 stocks, 30 months, 40 characteristics
n_stock, n_month, n_char = 120, 30, 40
FIRST_TEST = 20
panel = pd.DataFrame({"month": np.repeat(np.arange(n_month), n_stock),
                      "stock": np.tile(np.arange(n_stock), n_month)})
Z = rng.normal(size=(n_month * n_stock, n_char)) * rng.gamma(2, 0.5, n_char) + rng.normal(size=n_char)
beta = rng.normal(size=n_char) * (rng.random(n_char) < 0.2)
signal = 0.004 * np.tanh(Z @ beta / 3) + 0.003 * np.maximum(Z[:, 0] * Z[:, 1], 0)
panel["ret"] = signal + 0.02 * rng.standard_t(5, size=len(panel))
X_all = torch.from_numpy(Z.astype(np.float32))
y_all = torch.from_numpy(panel["ret"].to_numpy(np.float32)) * 50
bounds = np.searchsorted(panel["month"].to_numpy(), np.arange(n_month + 1))


def fit(X, y, seed, epochs=12):
    # cold start: the weights may not carry over from an earlier window
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(n_char, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2, fused=True)
    for epoch in range(epochs):
        for idx in torch.randperm(len(X)).split(800):
            loss = nn.functional.huber_loss(net(X[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


rows = []
for month in range(FIRST_TEST, n_month):
    past = slice(0, bounds[month])
    now = slice(bounds[month], bounds[month + 1])
    mean, std = X_all[past].mean(0), X_all[past].std(0)
    Xp = (X_all[past] - mean) / std
    Xn = (X_all[now] - mean) / std
    preds = []
    for seed in (0, 1, 2):
        net = fit(Xp, y_all[past], seed)
        with torch.no_grad():
            preds.append(net(Xn).squeeze(1))
    p = torch.stack(preds).mean(0).numpy()
    r = panel["ret"].to_numpy()[now]
    order = np.argsort(p)
    rows.append({"month": month, "train_rows": bounds[month], "ic": spearmanr(p, r)[0],
                 "long_short": r[order[-24:]].mean() - r[order[:24]].mean()})

report = pd.DataFrame(rows)
print(report.round(4).to_string(index=False))
ls = report["long_short"]
print(f"mean IC {report['ic'].mean():.4f}, long-short {ls.mean():.4f} per month, t = {ls.mean() / ls.std() * len(ls) ** 0.5:.2f}")
"""
