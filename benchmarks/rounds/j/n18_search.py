NAME = 'Grid search over width, learning rate and weight decay of an MLP on transformed and expanded table features.'
FAULT = 'Each trial builds the same features anew (quantile transform, polynomial expansion, SVD), which do not depend on the hyper-parameters.'
CURE = 'Build the features once before the search.'
KIND = 'time'
FAULT_LINES = [
    'x = build_features(raw)',
    'mse = run_trial(hidden, lr, wd)',
    '_, _, vt = torch.linalg.svd(p[:n_train], full_matrices=False)',
]
FAULT_CALLS = ['build_features', 'svd', 'QuantileTransformer', 'transform', 'fit', 'PolynomialFeatures', 'fit_transform', 'run_trial']

FAULTY = r"""
import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer

torch.set_num_threads(1)

rng = np.random.default_rng(3)
N = 8000
raw = np.exp(0.5 * rng.normal(size=(N, 20)))
target = (np.log(raw[:, 0]) * raw[:, 1] + 0.6 * np.sin(3 * raw[:, 2]) * raw[:, 3]
          - 0.4 * raw[:, 4] * raw[:, 5] + 0.2 * rng.normal(size=N)).astype("float32")
y_all = torch.from_numpy((target - target.mean()) / target.std())
n_train = 6400


def build_features(raw):
    q = QuantileTransformer(n_quantiles=800, output_distribution="normal", subsample=None, random_state=0)
    z = np.clip(q.fit(raw[:n_train]).transform(raw), -4, 4)
    p = torch.from_numpy(PolynomialFeatures(degree=2, include_bias=False).fit_transform(z))
    p = (p - p[:n_train].mean(0)) / p[:n_train].std(0)
    _, _, vt = torch.linalg.svd(p[:n_train], full_matrices=False)
    return (p @ vt[:60].T).float()


def make_net(d, hidden):
    return nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def train(net, x, y, lr, wd, epochs=4):
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=wd)
    gen = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for idx in torch.randperm(len(x), generator=gen).split(256):
            loss = F.mse_loss(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()


def run_trial(hidden, lr, wd):
    torch.manual_seed(0)
    x = build_features(raw)
    net = make_net(x.shape[1], hidden)
    train(net, x[:n_train], y_all[:n_train], lr, wd)
    with torch.no_grad():
        pred = net(x[n_train:]).squeeze(1)
    return F.mse_loss(pred, y_all[n_train:]).item()


results = []
for hidden, lr, wd in itertools.product([48, 96, 160], [3e-4, 1e-3, 3e-3], [0.0, 0.01, 0.1]):
    mse = run_trial(hidden, lr, wd)
    results.append((mse, hidden, lr, wd))
results.sort()
for mse, hidden, lr, wd in results[:5]:
    print(f"mse {mse:.3f}  hidden {hidden}  lr {lr}  wd {wd}")
"""

CURED = r"""
import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.preprocessing import PolynomialFeatures, QuantileTransformer

torch.set_num_threads(1)

rng = np.random.default_rng(3)
N = 8000
raw = np.exp(0.5 * rng.normal(size=(N, 20)))
target = (np.log(raw[:, 0]) * raw[:, 1] + 0.6 * np.sin(3 * raw[:, 2]) * raw[:, 3]
          - 0.4 * raw[:, 4] * raw[:, 5] + 0.2 * rng.normal(size=N)).astype("float32")
y_all = torch.from_numpy((target - target.mean()) / target.std())
n_train = 6400


def build_features(raw):
    q = QuantileTransformer(n_quantiles=800, output_distribution="normal", subsample=None, random_state=0)
    z = np.clip(q.fit(raw[:n_train]).transform(raw), -4, 4)
    p = torch.from_numpy(PolynomialFeatures(degree=2, include_bias=False).fit_transform(z))
    p = (p - p[:n_train].mean(0)) / p[:n_train].std(0)
    _, _, vt = torch.linalg.svd(p[:n_train], full_matrices=False)
    return (p @ vt[:60].T).float()


def make_net(d, hidden):
    return nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def train(net, x, y, lr, wd, epochs=4):
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=wd)
    gen = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for idx in torch.randperm(len(x), generator=gen).split(256):
            loss = F.mse_loss(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()


def run_trial(x, hidden, lr, wd):
    torch.manual_seed(0)
    net = make_net(x.shape[1], hidden)
    train(net, x[:n_train], y_all[:n_train], lr, wd)
    with torch.no_grad():
        pred = net(x[n_train:]).squeeze(1)
    return F.mse_loss(pred, y_all[n_train:]).item()


results = []
features = build_features(raw)
for hidden, lr, wd in itertools.product([48, 96, 160], [3e-4, 1e-3, 3e-3], [0.0, 0.01, 0.1]):
    mse = run_trial(features, hidden, lr, wd)
    results.append((mse, hidden, lr, wd))
results.sort()
for mse, hidden, lr, wd in results[:5]:
    print(f"mse {mse:.3f}  hidden {hidden}  lr {lr}  wd {wd}")
"""
