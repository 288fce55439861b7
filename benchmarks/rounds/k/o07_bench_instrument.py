NAME = 'Optimises the settings of a (simulated) bench instrument with an ensemble surrogate, one measurement at a time.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import time
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)


class Potentiostat:
    '''Bench instrument: a measurement takes a fixed time on the device, then the result can be fetched.'''

    def __init__(self, settle=0.02, seed=4):
        self.settle, self.rng = settle, np.random.default_rng(seed)
        self.optimum = np.array([0.3, -0.2, 0.5])

    def start(self, setting):
        self.ready_at = time.monotonic() + self.settle
        d = np.asarray(setting) - self.optimum
        self.value = float(np.exp(-2.0 * (d @ d)) + 0.01 * self.rng.standard_normal())

    def poll(self):
        return self.value if time.monotonic() >= self.ready_at else None


def measure(device, setting):
    device.start(setting.tolist())
    while (value := device.poll()) is None:
        time.sleep(0.004)
    return value


class Surrogate(nn.Module):
    def __init__(self, members=5, width=64):
        super().__init__()
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
            for _ in range(members))

    def forward(self, x):
        return torch.stack([m(x).squeeze(-1) for m in self.members])


def propose(model, n=4096, kappa=1.0):
    cand = torch.rand(n, 3) * 2 - 1
    with torch.no_grad():
        pred = model(cand)
    return cand[(pred.mean(0) + kappa * pred.std(0)).argmax()]


def refit(model, opt, X, y, steps=25):
    X, y = torch.stack(X), torch.tensor(y)
    for _ in range(steps):
        loss = (model(X) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


device, model = Potentiostat(), Surrogate()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
X, y = [], []
for trial in range(120):
    setting = torch.rand(3) * 2 - 1 if trial < 10 else propose(model)
    X.append(setting)
    y.append(measure(device, setting))
    loss = refit(model, opt, X, y)
    if trial % 30 == 29:
        best = int(np.argmax(y))
        print(f"trial {trial} loss {loss:.4f} best {y[best]:.2f} at {[round(v, 1) for v in X[best].tolist()]}")
"""
