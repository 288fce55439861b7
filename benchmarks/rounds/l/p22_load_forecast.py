NAME = 'Trains a recurrent encoder-decoder to forecast electric load a day ahead.'
FAULT = 'Anomaly detection of autograd is left switched on: it records a Python stack for every operation and checks all gradients for NaN.'
CURE = 'Remove torch.autograd.set_detect_anomaly(True).'
KIND = 'time'
FAULT_LINES = [
    'torch.autograd.set_detect_anomaly(True)',
    'loss.backward()',
    'h = self.enc(past[:, t], h)',
    'h = self.dec(torch.cat([y, future[:, t]], 1), h)',
    'y = self.out(h)',
]
FAULT_CALLS = [
    'torch.autograd.set_detect_anomaly',
    'set_detect_anomaly',
    'torch.Tensor.backward',
    'aten::isnan',
    'Forecaster.forward',
    'gru_cell',
    'nn.GRUCell',
]

FAULTY = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(12)
torch.autograd.set_detect_anomaly(True)

past_len, horizon, hidden = 48, 24, 64

hours = torch.arange(24 * 500, dtype=torch.float32)
day, week = 2 * math.pi * hours / 24, 2 * math.pi * hours / 168
temp = 10 + 8 * torch.sin(2 * math.pi * hours / 8760) + 3 * torch.sin(day - 2) + torch.randn(len(hours))
load = 1.0 + 0.3 * torch.sin(day - 1) + 0.1 * torch.cos(week) + 0.02 * (15 - temp).clamp(min=0) + 0.03 * torch.randn(len(hours))
calendar = torch.stack([day.sin(), day.cos(), week.sin(), week.cos(), temp / 10], 1)
series = torch.cat([load[:, None], calendar], 1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.GRUCell(6, hidden)
        self.dec = nn.GRUCell(6, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, past, future):
        h = past.new_zeros(past.shape[0], hidden)
        for t in range(past.shape[1]):
            h = self.enc(past[:, t], h)
        y = past[:, -1, :1]
        preds = []
        for t in range(future.shape[1]):
            h = self.dec(torch.cat([y, future[:, t]], 1), h)
            y = self.out(h)
            preds.append(y)
        return torch.cat(preds, 1)


def batch(n, lo, hi):
    s = torch.randint(lo, hi - past_len - horizon, (n,))
    idx = s[:, None] + torch.arange(past_len + horizon)
    w = series[idx]
    return w[:, :past_len], w[:, past_len:, 1:], w[:, past_len:, 0]


net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for step in range(75):
    past, future, target = batch(32, 0, 10_000)
    loss = (net(past, future) - target).abs().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()

with torch.no_grad():
    past, future, target = batch(256, 10_000, len(series))
    mape = ((net(past, future) - target).abs() / target).mean().item()
print(f"last loss {loss.item():.4f}, test mape {100 * mape:.2f}%")
"""

CURED = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(12)

past_len, horizon, hidden = 48, 24, 64

hours = torch.arange(24 * 500, dtype=torch.float32)
day, week = 2 * math.pi * hours / 24, 2 * math.pi * hours / 168
temp = 10 + 8 * torch.sin(2 * math.pi * hours / 8760) + 3 * torch.sin(day - 2) + torch.randn(len(hours))
load = 1.0 + 0.3 * torch.sin(day - 1) + 0.1 * torch.cos(week) + 0.02 * (15 - temp).clamp(min=0) + 0.03 * torch.randn(len(hours))
calendar = torch.stack([day.sin(), day.cos(), week.sin(), week.cos(), temp / 10], 1)
series = torch.cat([load[:, None], calendar], 1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.GRUCell(6, hidden)
        self.dec = nn.GRUCell(6, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, past, future):
        h = past.new_zeros(past.shape[0], hidden)
        for t in range(past.shape[1]):
            h = self.enc(past[:, t], h)
        y = past[:, -1, :1]
        preds = []
        for t in range(future.shape[1]):
            h = self.dec(torch.cat([y, future[:, t]], 1), h)
            y = self.out(h)
            preds.append(y)
        return torch.cat(preds, 1)


def batch(n, lo, hi):
    s = torch.randint(lo, hi - past_len - horizon, (n,))
    idx = s[:, None] + torch.arange(past_len + horizon)
    w = series[idx]
    return w[:, :past_len], w[:, past_len:, 1:], w[:, past_len:, 0]


net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for step in range(75):
    past, future, target = batch(32, 0, 10_000)
    loss = (net(past, future) - target).abs().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()

with torch.no_grad():
    past, future, target = batch(256, 10_000, len(series))
    mape = ((net(past, future) - target).abs() / target).mean().item()
print(f"last loss {loss.item():.4f}, test mape {100 * mape:.2f}%")
"""
