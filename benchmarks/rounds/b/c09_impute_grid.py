NAME = 'grid search of an MLP on a table with gaps'
FAULT = 'the k-nearest-neighbour imputation of the same four folds is repeated for each of the six configurations'
CURE = 'prepare each fold once before the grid'
KIND = 'time'
FAULT_LINES = ['x_tr, x_va = prepare(X[tr], X[va])', 'x_train = scaler.fit_transform(imputer.fit_transform(x_train))', 'x_valid = scaler.transform(imputer.transform(x_valid))']
FAULT_CALLS = ['prepare', 'KNNImputer.fit_transform', 'fit_transform', 'transform']
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.impute import KNNImputer
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(4)
N, D, STEPS = 1500, 20, 60
latent = rng.normal(size=(N, 5))
X = latent @ rng.normal(size=(5, D)) + 0.3 * rng.normal(size=(N, D))
y = (np.sin(latent[:, 0]) + latent[:, 1] * latent[:, 2] + 0.1 * rng.normal(size=N)).astype("float32")
X[rng.random(X.shape) < 0.12] = np.nan

def prepare(x_train, x_valid):
    imputer = KNNImputer(n_neighbors=7, weights="distance")
    scaler = StandardScaler()
    x_train = scaler.fit_transform(imputer.fit_transform(x_train))
    x_valid = scaler.transform(imputer.transform(x_valid))
    return torch.tensor(x_train, dtype=torch.float32), torch.tensor(x_valid, dtype=torch.float32)

def fit_score(xt, yt, xv, yv, width, wd):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(D, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=wd)
    for _ in range(STEPS):
        loss = (net(xt).squeeze(1) - yt).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        return (net(xv).squeeze(1) - yv).pow(2).mean().item()

folds = list(KFold(4, shuffle=True, random_state=0).split(X))
yt_all = torch.from_numpy(y)
results = {}
for width in (32, 64, 128):
    for wd in (1e-4, 1e-2):
        scores = []
        for tr, va in folds:
            x_tr, x_va = prepare(X[tr], X[va])
            scores.append(fit_score(x_tr, yt_all[tr], x_va, yt_all[va], width, wd))
        results[width, wd] = float(np.mean(scores))
best = min(results, key=results.get)
print("best", best, "cv mse", round(results[best], 4))
'''
CURED = r'''
import numpy as np
import torch
import torch.nn as nn
from sklearn.impute import KNNImputer
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(4)
N, D, STEPS = 1500, 20, 60
latent = rng.normal(size=(N, 5))
X = latent @ rng.normal(size=(5, D)) + 0.3 * rng.normal(size=(N, D))
y = (np.sin(latent[:, 0]) + latent[:, 1] * latent[:, 2] + 0.1 * rng.normal(size=N)).astype("float32")
X[rng.random(X.shape) < 0.12] = np.nan

def prepare(x_train, x_valid):
    imputer = KNNImputer(n_neighbors=7, weights="distance")
    scaler = StandardScaler()
    x_train = scaler.fit_transform(imputer.fit_transform(x_train))
    x_valid = scaler.transform(imputer.transform(x_valid))
    return torch.tensor(x_train, dtype=torch.float32), torch.tensor(x_valid, dtype=torch.float32)

def fit_score(xt, yt, xv, yv, width, wd):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(D, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=wd)
    for _ in range(STEPS):
        loss = (net(xt).squeeze(1) - yt).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        return (net(xv).squeeze(1) - yv).pow(2).mean().item()

folds = list(KFold(4, shuffle=True, random_state=0).split(X))
yt_all = torch.from_numpy(y)
prepared = [(tr, va, *prepare(X[tr], X[va])) for tr, va in folds]
results = {}
for width in (32, 64, 128):
    for wd in (1e-4, 1e-2):
        scores = []
        for tr, va, x_tr, x_va in prepared:
            scores.append(fit_score(x_tr, yt_all[tr], x_va, yt_all[va], width, wd))
        results[width, wd] = float(np.mean(scores))
best = min(results, key=results.get)
print("best", best, "cv mse", round(results[best], 4))
'''
