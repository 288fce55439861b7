NAME = 'Trains a credit-default classifier and reports bootstrap confidence intervals of AUC and Brier score.'

FAULT = 'Each bootstrap resample runs the model again on the resampled rows.'

CURE = 'Predict the test set once and resample the predictions.'

KIND = 'time'

FAULT_LINES = ['p = predict(model, x[idx])']

FAULT_CALLS = ['predict', 'aten::addmm', 'bootstrap']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy.stats import rankdata

torch.set_num_threads(1)
torch.manual_seed(6)

N_TRAIN, N_TEST, N_FEAT, N_BOOT = 8000, 3000, 40, 320


def applications(n, rng):
    x = rng.standard_normal((n, N_FEAT)).astype(np.float32)
    x[:, 5] = np.exp(0.5 * x[:, 5])
    z = (0.9 * x[:, 0] - 0.7 * x[:, 1] * x[:, 2] + 0.5 * np.maximum(x[:, 3], 0)
         + 0.4 * x[:, 5] - 0.3 * x[:, 4] ** 2 - 1.4)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class RiskNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(N_FEAT, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


@torch.no_grad()
def predict(model, x):
    model.eval()
    return torch.sigmoid(model(x)).numpy()


def auc(y, p):
    r = rankdata(p)
    n1 = y.sum()
    n0 = len(y) - n1
    return (r[y > 0.5].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


def brier(y, p):
    return float(np.mean((p - y) ** 2))


def bootstrap(model, x, y, rng):
    stats = []
    for _ in range(N_BOOT):
        idx = rng.integers(0, len(y), len(y))
        p = predict(model, x[idx])
        t = y[idx].numpy()
        stats.append((auc(t, p), brier(t, p)))
    return np.array(stats)


rng = np.random.default_rng(6)
x_tr, y_tr = applications(N_TRAIN, rng)
x_te, y_te = applications(N_TEST, rng)
model = RiskNet()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(N_TRAIN).split(200):
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x_tr[idx]), y_tr[idx])
        loss.backward()
        opt.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")

p = predict(model, x_te)
stats = bootstrap(model, x_te, y_te, rng)
lo, hi = np.percentile(stats, [2.5, 97.5], axis=0)
print(f"AUC   {auc(y_te.numpy(), p):.4f}  [{lo[0]:.4f}, {hi[0]:.4f}]")
print(f"Brier {brier(y_te.numpy(), p):.4f}  [{lo[1]:.4f}, {hi[1]:.4f}]")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy.stats import rankdata

torch.set_num_threads(1)
torch.manual_seed(6)

N_TRAIN, N_TEST, N_FEAT, N_BOOT = 8000, 3000, 40, 320


def applications(n, rng):
    x = rng.standard_normal((n, N_FEAT)).astype(np.float32)
    x[:, 5] = np.exp(0.5 * x[:, 5])
    z = (0.9 * x[:, 0] - 0.7 * x[:, 1] * x[:, 2] + 0.5 * np.maximum(x[:, 3], 0)
         + 0.4 * x[:, 5] - 0.3 * x[:, 4] ** 2 - 1.4)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class RiskNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(N_FEAT, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


@torch.no_grad()
def predict(model, x):
    model.eval()
    return torch.sigmoid(model(x)).numpy()


def auc(y, p):
    r = rankdata(p)
    n1 = y.sum()
    n0 = len(y) - n1
    return (r[y > 0.5].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


def brier(y, p):
    return float(np.mean((p - y) ** 2))


def bootstrap(model, x, y, rng):
    stats = []
    p_all = predict(model, x)
    for _ in range(N_BOOT):
        idx = rng.integers(0, len(y), len(y))
        p = p_all[idx]
        t = y[idx].numpy()
        stats.append((auc(t, p), brier(t, p)))
    return np.array(stats)


rng = np.random.default_rng(6)
x_tr, y_tr = applications(N_TRAIN, rng)
x_te, y_te = applications(N_TEST, rng)
model = RiskNet()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(N_TRAIN).split(200):
        opt.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(x_tr[idx]), y_tr[idx])
        loss.backward()
        opt.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")

p = predict(model, x_te)
stats = bootstrap(model, x_te, y_te, rng)
lo, hi = np.percentile(stats, [2.5, 97.5], axis=0)
print(f"AUC   {auc(y_te.numpy(), p):.4f}  [{lo[0]:.4f}, {hi[0]:.4f}]")
print(f"Brier {brier(y_te.numpy(), p):.4f}  [{lo[1]:.4f}, {hi[1]:.4f}]")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 5.90 s (5.52, 6.29), cured 3.35 s (3.3, 3.4); share gained (faulty - cured) / faulty = 43%. Peak RSS 377 MB / 371 MB. Printed results identical.'
