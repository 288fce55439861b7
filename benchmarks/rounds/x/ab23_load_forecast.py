NAME = "Forecasts the hourly load of a power grid with an N-BEATS-like network and quantile loss."
FAULT = None
CURE = None
KIND = None
LOOKS = "The loss is read with .item() in each step and the state dict is deep-copied whenever the validation improves: on a CPU the reading costs nothing, and the copy is made a few times in all and is needed for early stopping."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import copy
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(12)
rng = np.random.default_rng(12)

# three years of hourly load
idx = pd.date_range("2021-01-01", periods=24 * 365 * 3, freq="h")
hour, day, doy = idx.hour.to_numpy(), idx.day_of_week.to_numpy(), idx.day_of_year.to_numpy()
temp = 10 - 12 * np.cos(2 * np.pi * doy / 365) + pd.Series(rng.normal(size=len(idx))).ewm(span=48).mean().to_numpy() * 15
load = (50 + 8 * np.sin(2 * np.pi * (hour - 8) / 24) + 4 * np.sin(4 * np.pi * hour / 24)
        - 6 * (day >= 5) + 0.04 * (temp - 16) ** 2 + rng.normal(size=len(idx)))
s = pd.Series(load, index=idx)
cut = int(len(s) * 0.85)
mu, sd = s.iloc[:cut].mean(), s.iloc[:cut].std()
series = torch.tensor(((s - mu) / sd).to_numpy(), dtype=torch.float32)

PAST, AHEAD = 168, 24
QUANTILES = torch.tensor([0.1, 0.5, 0.9])
windows = series.unfold(0, PAST + AHEAD, 1)          # a view, nothing copied
train_w, val_w = windows[:cut - PAST - AHEAD], windows[cut:]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(PAST, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.back = nn.Linear(width, PAST)
        self.fore = nn.Linear(width, AHEAD * len(QUANTILES))

    def forward(self, x):
        h = self.body(x)
        return x - self.back(h), self.fore(h)


class LoadNet(nn.Module):
    def __init__(self, width=192, blocks=3):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks - 1))
        self.final = nn.Sequential(nn.Linear(PAST, width), nn.ReLU(), nn.Linear(width, AHEAD * len(QUANTILES)))

    def forward(self, x):
        out = 0
        for b in self.blocks:
            x, f = b(x)
            out = out + f
        out = out + self.final(x)
        return out.view(-1, AHEAD, len(QUANTILES))


def pinball(pred, y):
    d = y[..., None] - pred
    return torch.maximum(QUANTILES * d, (QUANTILES - 1) * d).mean()


net = LoadNet()
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3, fused=True)
best, best_state, patience = float("inf"), None, 0
for epoch in range(14):
    net.train()
    losses = []
    for ids in torch.randperm(len(train_w)).split(1024):
        w = train_w[ids]
        loss = pinball(net(w[:, :PAST]), w[:, PAST:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        val = pinball(net(val_w[:, :PAST]), val_w[:, PAST:]).item()
    if val < best:
        best, best_state, patience = val, copy.deepcopy(net.state_dict()), 0
    else:
        patience += 1
        if patience == 6:
            break
    if epoch % 4 == 0:
        print(f"epoch {epoch}: train {np.mean(losses):.4f}  val {val:.4f}")

net.load_state_dict(best_state)
with torch.no_grad():
    q = net(val_w[:, :PAST]) * sd + mu
actual = val_w[:, PAST:] * sd + mu
mape = ((q[..., 1] - actual).abs() / actual).mean().item()
cover = ((actual > q[..., 0]) & (actual < q[..., 2])).float().mean().item()
print(f"MAPE {mape:.3%}, 80% band covers {cover:.1%}")
'''
