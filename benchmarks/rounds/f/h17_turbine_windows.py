NAME = 'h17_turbine_windows'
FAULT = 'All overlapping history windows (30000 x 240 x 14 floats, 240 copies of the series) are materialised before training.'
CURE = "Keep the windows as a strided view of the series (tensor.unfold) and copy only a batch's windows."
KIND = 'memory'
FAULT_LINES = [
    'X = np.stack([values[i:i + HIST] for i in range(n_windows)])',
]
FAULT_CALLS = ['np.stack', 'numpy.stack', 'numpy.concatenate']
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(10)
rng = np.random.default_rng(10)

# 10-minute SCADA data of a wind turbine
T, CH = 30270, 14
HIST, AHEAD = 240, 12

def simulate_scada():
    wind = np.empty(T)
    w = 8.0
    for i, e in enumerate(rng.normal(0, 0.5, T)):
        w = w + 0.02 * (8 + 2 * np.sin(2 * np.pi * i / 144) - w) + e * 0.4
        wind[i] = w
    wind = np.clip(wind, 0, 25)
    power = np.clip((wind / 12) ** 3, 0, 1) * 2000
    temps = [np.convolve(power, np.exp(-np.arange(60) / (8 + 4 * k)) / (8 + 4 * k), mode='full')[:T]
             for k in range(8)]
    cols = [wind, power] + temps + [wind * rng.normal(1, 0.05, T) for _ in range(4)]
    x = np.stack(cols, 1) + rng.normal(0, 0.1, (T, CH))
    return x.astype(np.float32)

values = simulate_scada()
split = 24000
mean, std = values[:split].mean(0), values[:split].std(0)
values = (values - mean) / std

n_windows = T - HIST - AHEAD + 1
X = np.stack([values[i:i + HIST] for i in range(n_windows)])
X = torch.from_numpy(X)
power = torch.from_numpy(values[:, 1].copy())
Y = power.unfold(0, AHEAD, 1)[HIST:HIST + n_windows]
print("windows:", tuple(X.shape), "targets:", tuple(Y.shape))

class TCN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        chans = [CH, width, width, width, width]
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 3, stride=2) for a, b in zip(chans, chans[1:]))
        self.head = nn.Linear(width * 2, AHEAD)

    def forward(self, x):
        h = x.transpose(1, 2)
        for conv in self.convs:
            h = F.gelu(conv(h))
        return self.head(torch.cat([h.mean(-1), h[..., -1]], 1))

model = TCN()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
train_end = split - HIST - AHEAD

model.train()
total = 0.0
for step in range(1, 501):
    idx = torch.randint(0, train_end, (64,))
    pred = model(X[idx])
    loss = F.l1_loss(pred, Y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    if step % 100 == 0:
        print(f"step {step}: mean abs error {total / 100:.4f}")
        total = 0.0

model.eval()
errs, naive = [], []
with torch.no_grad():
    for idx in torch.arange(split, n_windows).split(256):
        xb, yb = X[idx], Y[idx]
        errs.append((model(xb) - yb).abs().mean(0))
        naive.append((xb[:, -1, 1:2] - yb).abs().mean(0))
errs, naive = torch.stack(errs).mean(0), torch.stack(naive).mean(0)
for lead in (1, 3, 6, 12):
    print(f"{10 * lead:3d} min ahead: model {errs[lead - 1]:.4f}  persistence {naive[lead - 1]:.4f}")
'''
CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(10)
rng = np.random.default_rng(10)

# 10-minute SCADA data of a wind turbine
T, CH = 30270, 14
HIST, AHEAD = 240, 12

def simulate_scada():
    wind = np.empty(T)
    w = 8.0
    for i, e in enumerate(rng.normal(0, 0.5, T)):
        w = w + 0.02 * (8 + 2 * np.sin(2 * np.pi * i / 144) - w) + e * 0.4
        wind[i] = w
    wind = np.clip(wind, 0, 25)
    power = np.clip((wind / 12) ** 3, 0, 1) * 2000
    temps = [np.convolve(power, np.exp(-np.arange(60) / (8 + 4 * k)) / (8 + 4 * k), mode='full')[:T]
             for k in range(8)]
    cols = [wind, power] + temps + [wind * rng.normal(1, 0.05, T) for _ in range(4)]
    x = np.stack(cols, 1) + rng.normal(0, 0.1, (T, CH))
    return x.astype(np.float32)

values = simulate_scada()
split = 24000
mean, std = values[:split].mean(0), values[:split].std(0)
values = (values - mean) / std

n_windows = T - HIST - AHEAD + 1
X = torch.from_numpy(values).unfold(0, HIST, 1)[:n_windows].transpose(1, 2)
power = torch.from_numpy(values[:, 1].copy())
Y = power.unfold(0, AHEAD, 1)[HIST:HIST + n_windows]
print("windows:", tuple(X.shape), "targets:", tuple(Y.shape))

class TCN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        chans = [CH, width, width, width, width]
        self.convs = nn.ModuleList(nn.Conv1d(a, b, 3, stride=2) for a, b in zip(chans, chans[1:]))
        self.head = nn.Linear(width * 2, AHEAD)

    def forward(self, x):
        h = x.transpose(1, 2)
        for conv in self.convs:
            h = F.gelu(conv(h))
        return self.head(torch.cat([h.mean(-1), h[..., -1]], 1))

model = TCN()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
train_end = split - HIST - AHEAD

model.train()
total = 0.0
for step in range(1, 501):
    idx = torch.randint(0, train_end, (64,))
    pred = model(X[idx])
    loss = F.l1_loss(pred, Y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    if step % 100 == 0:
        print(f"step {step}: mean abs error {total / 100:.4f}")
        total = 0.0

model.eval()
errs, naive = [], []
with torch.no_grad():
    for idx in torch.arange(split, n_windows).split(256):
        xb, yb = X[idx], Y[idx]
        errs.append((model(xb) - yb).abs().mean(0))
        naive.append((xb[:, -1, 1:2] - yb).abs().mean(0))
errs, naive = torch.stack(errs).mean(0), torch.stack(naive).mean(0)
for lead in (1, 3, 6, 12):
    print(f"{10 * lead:3d} min ahead: model {errs[lead - 1]:.4f}  persistence {naive[lead - 1]:.4f}")
'''
