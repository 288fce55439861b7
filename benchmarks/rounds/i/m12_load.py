NAME = 'Trains a one-day-ahead load forecaster on sliding windows of a long synthetic electricity series.'
FAULT = 'All overlapping windows of the series are materialised with np.stack, so that each value is stored once per window (nearly 200 times).'
CURE = 'Keep the series and take the windows as a strided view (Tensor.unfold), copying only the rows of the current batch.'
KIND = 'memory'
FAULT_LINES = [
    'windows = np.stack([series[i:i + CONTEXT + HORIZON] for i in range(n_win)])',
    'windows = torch.from_numpy(windows)',
]
FAULT_CALLS = [
    'stack',
    'np.stack',
    'make_windows',
    '<listcomp>',
    'from_numpy',
    'concatenate',
]
FAULTY = r"""
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(21)

CONTEXT, HORIZON = 168, 24


def load_curve(n):
    t = np.arange(n)
    day = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1)
    week = 0.5 * np.sin(2 * np.pi * t / 168)
    noise = np.convolve(rng.normal(size=n + 23), np.ones(24) / 24, mode="valid")
    return (day + week + noise).astype(np.float32)


def make_windows(series):
    n_win = len(series) - CONTEXT - HORIZON + 1
    windows = np.stack([series[i:i + CONTEXT + HORIZON] for i in range(n_win)])
    windows = torch.from_numpy(windows)
    return windows


series = load_curve(600_000)                 # 5-minute readings of several years
series = (series - series.mean()) / series.std()
windows = make_windows(series)
n_train = int(0.9 * len(windows))

model = nn.Sequential(nn.Linear(CONTEXT, 384), nn.GELU(), nn.Linear(384, 128), nn.GELU(), nn.Linear(128, HORIZON))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
order = torch.randperm(n_train)
for step, idx in enumerate(order.split(1024)):
    batch = windows[idx]
    pred = model(batch[:, :CONTEXT])
    loss = nn.functional.l1_loss(pred, batch[:, CONTEXT:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 4))

with torch.no_grad():
    err = 0.0
    for lo in range(n_train, len(windows), 4096):
        b = windows[lo:lo + 4096]
        err += (model(b[:, :CONTEXT]) - b[:, CONTEXT:]).abs().mean(1).sum().item()
print("test MAE", round(err / (len(windows) - n_train), 5))
"""
CURED = r"""
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(21)

CONTEXT, HORIZON = 168, 24


def load_curve(n):
    t = np.arange(n)
    day = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1)
    week = 0.5 * np.sin(2 * np.pi * t / 168)
    noise = np.convolve(rng.normal(size=n + 23), np.ones(24) / 24, mode="valid")
    return (day + week + noise).astype(np.float32)


def make_windows(series):
    windows = torch.from_numpy(series).unfold(0, CONTEXT + HORIZON, 1)
    return windows


series = load_curve(600_000)                 # 5-minute readings of several years
series = (series - series.mean()) / series.std()
windows = make_windows(series)
n_train = int(0.9 * len(windows))

model = nn.Sequential(nn.Linear(CONTEXT, 384), nn.GELU(), nn.Linear(384, 128), nn.GELU(), nn.Linear(128, HORIZON))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
order = torch.randperm(n_train)
for step, idx in enumerate(order.split(1024)):
    batch = windows[idx]
    pred = model(batch[:, :CONTEXT])
    loss = nn.functional.l1_loss(pred, batch[:, CONTEXT:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 4))

with torch.no_grad():
    err = 0.0
    for lo in range(n_train, len(windows), 4096):
        b = windows[lo:lo + 4096]
        err += (model(b[:, :CONTEXT]) - b[:, CONTEXT:]).abs().mean(1).sum().item()
print("test MAE", round(err / (len(windows) - n_train), 5))
"""
