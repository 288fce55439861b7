NAME = 'Grid search of a small network on assay data with quantile transform and PCA inside three-fold cross validation.'
FAULT = 'The quantile transform and PCA of each fold do not depend on the grid point but are fitted again for each configuration.'
CURE = 'Prepare the folds once before the grid search and reuse them for all configurations.'
KIND = 'time'
FAULT_LINES = ['xt, xv = prepare(x[train_rows], x[valid_rows])', 'a = pipe.fit_transform(x_train)', 'b = pipe.transform(x_valid)', 'results.append((cross_validate(x, y, config, folds), config))']
FAULT_CALLS = ['prepare', 'fit_transform', 'transform', 'cross_validate']
FAULTY = r"""
import itertools
import numpy as np
import torch
import torch.nn as nn
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from threadpoolctl import threadpool_limits

torch.set_num_threads(1)
threadpool_limits(1)


def assay_table(n=900, p=750, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 12))
    x = np.exp(0.5 * latent @ rng.standard_normal((12, p)) + 0.6 * rng.standard_normal((n, p)))
    y = np.tanh(latent[:, 0] * latent[:, 1]) + 0.5 * latent[:, 2] + 0.1 * rng.standard_normal(n)
    return x.astype(np.float32), y.astype(np.float32)


def prepare(x_train, x_valid, components=24):
    pipe = make_pipeline(
        QuantileTransformer(n_quantiles=200, output_distribution="normal", random_state=0),
        PCA(components, svd_solver="full"))
    a = pipe.fit_transform(x_train)
    b = pipe.transform(x_valid)
    scale = a.std(0)
    return torch.from_numpy((a / scale).astype(np.float32)), torch.from_numpy((b / scale).astype(np.float32))


def train_mlp(x, y, width, lr, wd, epochs=12):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(x.shape[1], width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=wd)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            loss = nn.functional.mse_loss(net(x[rows]).squeeze(-1), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


def cross_validate(x, y, config, folds):
    scores = []
    for train_rows, valid_rows in folds:
        xt, xv = prepare(x[train_rows], x[valid_rows])
        yt, yv = torch.from_numpy(y[train_rows]), torch.from_numpy(y[valid_rows])
        net = train_mlp(xt, yt, **config)
        with torch.no_grad():
            err = nn.functional.mse_loss(net(xv).squeeze(-1), yv).item()
        scores.append(1 - err / float(yv.var()))
    return float(np.mean(scores))


x, y = assay_table()
folds = list(KFold(3, shuffle=True, random_state=1).split(x))
grid = {"width": [32, 64], "lr": [3e-3, 1e-2], "wd": [1e-2]}
results = []
for values in itertools.product(*grid.values()):
    config = dict(zip(grid, values))
    results.append((cross_validate(x, y, config, folds), config))
for score, config in sorted(results, key=lambda r: -r[0]):
    print(f"r2 {score:.2f}", config)
"""
CURED = r"""
import itertools
import numpy as np
import torch
import torch.nn as nn
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from threadpoolctl import threadpool_limits

torch.set_num_threads(1)
threadpool_limits(1)


def assay_table(n=900, p=750, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 12))
    x = np.exp(0.5 * latent @ rng.standard_normal((12, p)) + 0.6 * rng.standard_normal((n, p)))
    y = np.tanh(latent[:, 0] * latent[:, 1]) + 0.5 * latent[:, 2] + 0.1 * rng.standard_normal(n)
    return x.astype(np.float32), y.astype(np.float32)


def prepare(x_train, x_valid, components=24):
    pipe = make_pipeline(
        QuantileTransformer(n_quantiles=200, output_distribution="normal", random_state=0),
        PCA(components, svd_solver="full"))
    a = pipe.fit_transform(x_train)
    b = pipe.transform(x_valid)
    scale = a.std(0)
    return torch.from_numpy((a / scale).astype(np.float32)), torch.from_numpy((b / scale).astype(np.float32))


def train_mlp(x, y, width, lr, wd, epochs=12):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(x.shape[1], width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=wd)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            loss = nn.functional.mse_loss(net(x[rows]).squeeze(-1), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


def cross_validate(x, y, config, folds, prepared):
    scores = []
    for (train_rows, valid_rows), (xt, xv) in zip(folds, prepared):
        yt, yv = torch.from_numpy(y[train_rows]), torch.from_numpy(y[valid_rows])
        net = train_mlp(xt, yt, **config)
        with torch.no_grad():
            err = nn.functional.mse_loss(net(xv).squeeze(-1), yv).item()
        scores.append(1 - err / float(yv.var()))
    return float(np.mean(scores))


x, y = assay_table()
folds = list(KFold(3, shuffle=True, random_state=1).split(x))
prepared = [prepare(x[a], x[b]) for a, b in folds]
grid = {"width": [32, 64], "lr": [3e-3, 1e-2], "wd": [1e-2]}
results = []
for values in itertools.product(*grid.values()):
    config = dict(zip(grid, values))
    results.append((cross_validate(x, y, config, folds, prepared), config))
for score, config in sorted(results, key=lambda r: -r[0]):
    print(f"r2 {score:.2f}", config)
"""
