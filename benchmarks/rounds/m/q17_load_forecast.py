NAME = 'Trains an LSTM on electricity load and backtests it walking forward hour by hour.'

FAULT = 'At each hour of the backtest the LSTM is run over the whole history from the start.'

CURE = 'Carry the hidden state along and feed only the new observation.'

KIND = 'time'

FAULT_LINES = ['mean, _ = model(series[:t + 1].unsqueeze(0))', 'preds[k] = mean[0, -1]']

FAULT_CALLS = ['torch.nn.LSTM.forward', 'aten::lstm', 'walk_forward']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(13)

HOURS, TEST, CHUNK = 24 * 112, 24 * 56, 72


def load_curve(seed=13):
    rng = np.random.default_rng(seed)
    t = np.arange(HOURS)
    day = 0.8 * np.sin(2 * np.pi * (t - 7) / 24) + 0.3 * np.sin(4 * np.pi * t / 24)
    week = np.where((t // 24) % 7 >= 5, -0.5, 0.1)
    temp = np.zeros(HOURS)
    for i in range(1, HOURS):
        temp[i] = 0.97 * temp[i - 1] + 0.12 * rng.standard_normal()
    load = day + week + 0.4 * np.abs(temp) + 0.08 * rng.standard_normal(HOURS)
    hour = 2 * np.pi * (t % 24) / 24
    return np.stack([load, temp, np.sin(hour), np.cos(hour)], 1).astype(np.float32)


class LoadLSTM(nn.Module):
    def __init__(self, n_in=4, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h).squeeze(-1), state


def train(model, series, steps=150):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    span = torch.arange(CHUNK)
    for step in range(steps):
        starts = torch.randint(0, HOURS - TEST - CHUNK - 1, (16, 1))
        x = series[starts + span]
        y = series[starts + span + 1, 0]
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x)[0], y)
        loss.backward()
        opt.step()
        if step % 50 == 49:
            print(f"step {step + 1}: mse {loss.item():.4f}")


@torch.no_grad()
def walk_forward(model, series):
    model.eval()
    first = HOURS - TEST - 1
    preds = torch.empty(TEST)
    band = torch.empty(TEST)
    resid = []
    for k, t in enumerate(range(first, HOURS - 1)):
        mean, _ = model(series[:t + 1].unsqueeze(0))
        preds[k] = mean[0, -1]
        band[k] = 1.64 * float(np.std(resid[-48:])) if len(resid) > 8 else 0.5
        resid.append((series[t + 1, 0] - preds[k]).item())
    return preds, band


raw = load_curve()
cut = HOURS - TEST
scaled = (raw - raw[:cut].mean(0)) / raw[:cut].std(0)
series = torch.from_numpy(scaled)
model = LoadLSTM()
train(model, series)
preds, band = walk_forward(model, series)
actual = series[cut:, 0]
inside = ((preds - actual).abs() <= band).float().mean()
naive = (series[cut - 24:-24, 0] - actual).abs().mean()
print(f"walk-forward mae {(preds - actual).abs().mean():.4f}  seasonal naive {naive:.4f}  coverage {inside:.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(13)

HOURS, TEST, CHUNK = 24 * 112, 24 * 56, 72


def load_curve(seed=13):
    rng = np.random.default_rng(seed)
    t = np.arange(HOURS)
    day = 0.8 * np.sin(2 * np.pi * (t - 7) / 24) + 0.3 * np.sin(4 * np.pi * t / 24)
    week = np.where((t // 24) % 7 >= 5, -0.5, 0.1)
    temp = np.zeros(HOURS)
    for i in range(1, HOURS):
        temp[i] = 0.97 * temp[i - 1] + 0.12 * rng.standard_normal()
    load = day + week + 0.4 * np.abs(temp) + 0.08 * rng.standard_normal(HOURS)
    hour = 2 * np.pi * (t % 24) / 24
    return np.stack([load, temp, np.sin(hour), np.cos(hour)], 1).astype(np.float32)


class LoadLSTM(nn.Module):
    def __init__(self, n_in=4, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h).squeeze(-1), state


def train(model, series, steps=150):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    span = torch.arange(CHUNK)
    for step in range(steps):
        starts = torch.randint(0, HOURS - TEST - CHUNK - 1, (16, 1))
        x = series[starts + span]
        y = series[starts + span + 1, 0]
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x)[0], y)
        loss.backward()
        opt.step()
        if step % 50 == 49:
            print(f"step {step + 1}: mse {loss.item():.4f}")


@torch.no_grad()
def walk_forward(model, series):
    model.eval()
    first = HOURS - TEST - 1
    preds = torch.empty(TEST)
    band = torch.empty(TEST)
    resid = []
    _, state = model(series[:first].unsqueeze(0))
    for k, t in enumerate(range(first, HOURS - 1)):
        mean, state = model(series[None, t:t + 1], state)
        preds[k] = mean[0, -1]
        band[k] = 1.64 * float(np.std(resid[-48:])) if len(resid) > 8 else 0.5
        resid.append((series[t + 1, 0] - preds[k]).item())
    return preds, band


raw = load_curve()
cut = HOURS - TEST
scaled = (raw - raw[:cut].mean(0)) / raw[:cut].std(0)
series = torch.from_numpy(scaled)
model = LoadLSTM()
train(model, series)
preds, band = walk_forward(model, series)
actual = series[cut:, 0]
inside = ((preds - actual).abs() <= band).float().mean()
naive = (series[cut - 24:-24, 0] - actual).abs().mean()
print(f"walk-forward mae {(preds - actual).abs().mean():.4f}  seasonal naive {naive:.4f}  coverage {inside:.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 7.59 s (7.56, 7.62), cured 2.93 s (2.87, 2.99); share gained (faulty - cured) / faulty = 61%. Peak RSS 629 MB / 322 MB. Printed results identical.'
