NAME = "Trains an ensemble of residual-block forecasters on bootstrapped series and reports the accuracy of the ensemble's median."
FAULT = "Every finished member is kept together with its Adam optimizer (two moments per weight) and the last gradients, so each costs four times its weights until the end."
CURE = "Drop the optimizer and the gradients when a member has been trained; keep the network only."
KIND = "memory"
FAULT_LINES = ["self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)", "members.append(m)", "m = Member(seed).fit(windows)", "return self", "self.opt.step()", "loss.backward()"]
FAULT_CALLS = ["Adam", "step", "fit", "zeros_like", "backward", "_init_group"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

LOOK, HOR, N_MEMBERS = 96, 24, 10


def make_series(n=120, length=600):
    t = np.arange(length)
    out = np.empty((n, length), dtype=np.float32)
    for i in range(n):
        a, b = rng.uniform(0.5, 2, 2)
        trend = np.cumsum(rng.normal(0, 0.03, length))
        out[i] = (a * np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6)) + b * np.sin(2 * np.pi * t / 168)
                  + trend + rng.normal(0, 0.3, length))
    out -= out.mean(1, keepdims=True)
    return out / out.std(1, keepdims=True)


def cut(series, starts):
    rows = starts[:, 0]
    cols = starts[:, 1][:, None] + np.arange(LOOK + HOR)
    w = torch.from_numpy(series[rows[:, None], cols])
    return w[:, :LOOK], w[:, LOOK:]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(LOOK, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.back = nn.Linear(width, LOOK)
        self.fore = nn.Linear(width, HOR)

    def forward(self, x):
        h = self.fc(x)
        return x - self.back(h), self.fore(h)


class Forecaster(nn.Module):
    def __init__(self, n_blocks=4, width=1024):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(n_blocks))

    def forward(self, x):
        y = 0
        for blk in self.blocks:
            x, part = blk(x)
            y = y + part
        return y


class Member:
    """one ensemble member with its own initialisation and resample"""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.seed = seed
        self.net = Forecaster()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.losses = []

    def fit(self, windows, steps=14, bs=64):
        r = np.random.default_rng(self.seed)
        boot = windows[r.integers(0, len(windows), len(windows))]
        for step in range(steps):
            x, y = cut(series, boot[r.integers(0, len(boot), bs)])
            loss = nn.functional.l1_loss(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.losses.append(loss.item())
        return self

    @torch.no_grad()
    def predict(self, x):
        return self.net(x)


series = make_series()
windows = np.stack([rng.integers(0, 100, 4000), rng.integers(0, 600 - LOOK - HOR, 4000)], 1)
holdout = np.stack([rng.integers(100, 120, 300), rng.integers(0, 600 - LOOK - HOR, 300)], 1)

members = []
for seed in range(N_MEMBERS):
    m = Member(seed).fit(windows)
    members.append(m)
    print(f"member {seed} final loss {m.losses[-1]:.4f}")

x, y = cut(series, holdout)
preds = torch.stack([m.predict(x) for m in members])
mae_each = (preds - y).abs().mean((1, 2))
mae_med = (preds.median(0).values - y).abs().mean()
spread = preds.std(0).mean()
print(f"MAE single {mae_each.mean():.4f}  ensemble {mae_med:.4f}  spread {spread:.4f}")
'''
CURED = FAULTY.replace("        return self\n", "        self.opt.zero_grad(set_to_none=True)\n        self.opt = None\n        return self\n")
