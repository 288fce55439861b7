NAME = 'Trains a recurrent forecaster on synthetic electricity load that feeds its own predictions back over the forecast horizon.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "The loop over the horizon cannot be replaced by one GRU call because each step's input is the model's own last prediction; the encoder part does use one call."

GOOD = r'''
import math
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)
np.random.seed(17)

PAST, HORIZON, HIDDEN, BATCH = 48, 24, 256, 200


def make_load(n_hours):
    t = np.arange(n_hours)
    day = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1)
    week = 0.5 * ((t // 24) % 7 < 5)
    ar = np.zeros(n_hours)
    eps = 0.12 * np.random.randn(n_hours)
    for i in range(1, n_hours):
        ar[i] = 0.9 * ar[i - 1] + eps[i]
    load = day + week + ar
    return torch.tensor((load - load.mean()) / load.std(), dtype=torch.float32)


load = make_load(4200)
hour = torch.arange(len(load)) % 24
dow = (torch.arange(len(load)) // 24) % 7
calendar = torch.stack([
    torch.sin(2 * math.pi * hour / 24), torch.cos(2 * math.pi * hour / 24),
    torch.sin(2 * math.pi * dow / 7), torch.cos(2 * math.pi * dow / 7),
], dim=1)
series = torch.cat([load[:, None], calendar], dim=1)

offsets = torch.arange(PAST + HORIZON)
starts = torch.arange(len(load) - PAST - HORIZON)
train_starts, test_starts = starts[:3200], starts[3300:4100]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(5, HIDDEN, batch_first=True)
        self.cell = nn.GRUCell(5, HIDDEN)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, past, future_calendar):
        _, h = self.encoder(past)
        h = h[0]
        y = past[:, -1, :1]
        outputs = []
        for step in range(future_calendar.shape[1]):
            h = self.cell(torch.cat([y, future_calendar[:, step]], dim=1), h)
            y = y + self.head(h)
            outputs.append(y)
        return torch.cat(outputs, dim=1)


def split_windows(idx):
    w = series[idx[:, None] + offsets]
    return w[:, :PAST], w[:, PAST:, 1:], w[:, PAST:, 0]


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 4):
    model.train()
    total = 0.0
    for idx in train_starts[torch.randperm(len(train_starts))].split(BATCH):
        past, cal, target = split_windows(idx)
        loss = nn.functional.smooth_l1_loss(model(past, cal), target)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)

    model.eval()
    errors = []
    with torch.no_grad():
        for idx in test_starts.split(BATCH):
            past, cal, target = split_windows(idx)
            errors.append((model(past, cal) - target).abs())
    mae = torch.cat(errors).mean(0)
    print(f"epoch {epoch}  loss {total / len(train_starts):.4f}  "
          f"MAE 1h {mae[0]:.3f}  12h {mae[11]:.3f}  24h {mae[-1]:.3f}")
'''
