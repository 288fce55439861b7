NAME = 'Trains an LSTM on hourly electricity load and rolls out a one-week forecast for many meters.'
FAULT = 'In the roll-out the whole growing history goes through the LSTM again for every new hour, though only the last value is new.'
CURE = "Keep the LSTM's hidden state and feed only the newest value."
KIND = 'time'
FAULT_LINES = ['outputs, _ = self.lstm(context)', 'context = torch.cat([context, nxt.unsqueeze(1)], dim=1)', 'nxt = self.head(outputs[:, -1])']
FAULT_CALLS = ['lstm', 'rollout', 'LSTM']
FAULTY = r"""import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
gen = np.random.default_rng(5)

METERS, HOURS, HORIZON, WINDOW = 96, 24 * 28, 24 * 7, 24 * 4


def make_load():
    t = np.arange(HOURS)
    daily = np.sin(2 * np.pi * (t[None] - gen.uniform(0, 6, (METERS, 1))) / 24)
    weekly = 0.4 * np.sin(2 * np.pi * t / 168)[None]
    noise = 0.1 * gen.standard_normal((METERS, HOURS))
    load = gen.uniform(0.6, 1.4, (METERS, 1)) * daily + weekly + noise
    return torch.from_numpy(load.astype(np.float32))


class Forecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs)

    @torch.no_grad()
    def rollout(self, context, steps):
        predictions = []
        for _ in range(steps):
            outputs, _ = self.lstm(context)
            nxt = self.head(outputs[:, -1])
            predictions.append(nxt)
            context = torch.cat([context, nxt.unsqueeze(1)], dim=1)
        return torch.cat(predictions, dim=1)


def sample_windows(load, n):
    rows = torch.randint(0, load.shape[0], (n,))
    starts = torch.randint(0, load.shape[1] - WINDOW - 1, (n,))
    cols = starts[:, None] + torch.arange(WINDOW + 1)
    chunk = load[rows[:, None], cols]
    return chunk[:, :-1, None], chunk[:, 1:, None]


load = make_load()
past, future = load[:, :-HORIZON], load[:, -HORIZON:]
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for step in range(1, 121):
    x, y = sample_windows(past, 64)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")

model.eval()
context = past[:, -72:].unsqueeze(-1)
forecast = model.rollout(context, HORIZON)
naive = past[:, -168:]
mae = (forecast - future).abs().mean().item()
naive_mae = (naive - future).abs().mean().item()
print(f"forecast MAE {mae:.3f}, seasonal naive MAE {naive_mae:.3f}")
for day in range(0, 7, 2):
    part = slice(24 * day, 24 * day + 24)
    print(f"day {day + 1}: MAE {(forecast[:, part] - future[:, part]).abs().mean().item():.3f}")
"""
CURED = r"""import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
gen = np.random.default_rng(5)

METERS, HOURS, HORIZON, WINDOW = 96, 24 * 28, 24 * 7, 24 * 4


def make_load():
    t = np.arange(HOURS)
    daily = np.sin(2 * np.pi * (t[None] - gen.uniform(0, 6, (METERS, 1))) / 24)
    weekly = 0.4 * np.sin(2 * np.pi * t / 168)[None]
    noise = 0.1 * gen.standard_normal((METERS, HOURS))
    load = gen.uniform(0.6, 1.4, (METERS, 1)) * daily + weekly + noise
    return torch.from_numpy(load.astype(np.float32))


class Forecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs)

    @torch.no_grad()
    def rollout(self, context, steps):
        predictions = []
        state = None
        for _ in range(steps):
            outputs, state = self.lstm(context, state)
            nxt = self.head(outputs[:, -1])
            predictions.append(nxt)
            context = nxt.unsqueeze(1)
        return torch.cat(predictions, dim=1)


def sample_windows(load, n):
    rows = torch.randint(0, load.shape[0], (n,))
    starts = torch.randint(0, load.shape[1] - WINDOW - 1, (n,))
    cols = starts[:, None] + torch.arange(WINDOW + 1)
    chunk = load[rows[:, None], cols]
    return chunk[:, :-1, None], chunk[:, 1:, None]


load = make_load()
past, future = load[:, :-HORIZON], load[:, -HORIZON:]
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for step in range(1, 121):
    x, y = sample_windows(past, 64)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")

model.eval()
context = past[:, -72:].unsqueeze(-1)
forecast = model.rollout(context, HORIZON)
naive = past[:, -168:]
mae = (forecast - future).abs().mean().item()
naive_mae = (naive - future).abs().mean().item()
print(f"forecast MAE {mae:.3f}, seasonal naive MAE {naive_mae:.3f}")
for day in range(0, 7, 2):
    part = slice(24 * day, 24 * day + 24)
    print(f"day {day + 1}: MAE {(forecast[:, part] - future[:, part]).abs().mean().item():.3f}")
"""
