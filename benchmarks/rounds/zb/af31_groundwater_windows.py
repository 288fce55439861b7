NAME = "A temporal CNN forecasts groundwater heads of many wells two weeks ahead from half a year of rain, pumping and heads."
FAULT = "All overlapping windows are copied into one array, so every day of the series is stored some 180 times."
CURE = "Use a strided view (sliding_window_view) and copy only the windows of a batch when they are indexed."
KIND = "memory"
FAULT_LINES = ["X = np.stack([series[:, t:t + WIN] for t in range(n_win)], axis=1)"]
FAULT_CALLS = ["stack", "make_windows", "np.stack", "concatenate"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
from numpy.lib.stride_tricks import sliding_window_view

torch.set_num_threads(1)
torch.manual_seed(30)
rng = np.random.default_rng(30)

N_WELLS, DAYS = 40, 3900
WIN, AHEAD = 180, 14


def simulate():
    """linear reservoir per well: recharge from rain, seasonal evaporation, pumping nearby"""
    day = np.arange(DAYS)
    rain = rng.gamma(0.35, 6.0, size=(N_WELLS, DAYS)) * (rng.random((N_WELLS, DAYS)) < 0.4)
    evap = 1.4 + 1.2 * np.sin(2 * np.pi * (day - 100) / 365.25)
    pump = np.repeat(rng.integers(0, 3, size=(N_WELLS, DAYS // 30 + 1)), 30, axis=1)[:, :DAYS]
    k = rng.uniform(0.004, 0.02, size=N_WELLS)
    s = rng.uniform(0.05, 0.2, size=N_WELLS)
    head = np.empty((N_WELLS, DAYS))
    h = np.zeros(N_WELLS)
    soil = np.zeros(N_WELLS)
    for t in range(DAYS):
        soil = np.maximum(soil + rain[:, t] - evap[t], 0.0)
        leak = 0.05 * soil
        soil -= leak
        h = h + leak / 1000 / s - k * h - 0.004 * pump[:, t]
        head[:, t] = h
    return np.stack([rain, pump, np.broadcast_to(evap, rain.shape), head], axis=-1)


def make_windows(series):
    """(well, start, day, channel) inputs and the head AHEAD days after each window"""
    n_win = series.shape[1] - WIN - AHEAD + 1
    X = np.stack([series[:, t:t + WIN] for t in range(n_win)], axis=1)
    y = series[:, WIN + AHEAD - 1:WIN + AHEAD - 1 + n_win, 3]
    return X, y


class HeadNet(nn.Module):
    def __init__(self, c_in=4, width=32):
        super().__init__()
        blocks, c = [], c_in
        for d in (1, 2, 4, 8):
            blocks += [nn.Conv1d(c, width, 3, dilation=d, padding=d), nn.ReLU(), nn.AvgPool1d(2)]
            c = width
        self.body = nn.Sequential(*blocks)
        self.head = nn.Linear(width * (WIN // 16), 1)

    def forward(self, x):
        z = self.body(x.transpose(1, 2))
        return x[:, -1, 3] + self.head(z.flatten(1)).squeeze(1)


data = simulate().astype(np.float32)
mu, sd = data.mean((0, 1)), data.std((0, 1))
data = (data - mu) / sd
X, y = make_windows(data)
n_win = X.shape[1]
split = int(0.75 * n_win)
print("windows per well", n_win, "training days", split)


def batch(lo, hi, size):
    w = rng.integers(0, N_WELLS, size=size)
    t = rng.integers(lo, hi, size=size)
    return torch.from_numpy(X[w, t]), torch.from_numpy(y[w, t])


net = HeadNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1, 501):
    xb, yb = batch(0, split - AHEAD, 128)
    loss = (net(xb) - yb).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 125 == 0:
        print(f"step {step} MAE {loss.item() * sd[3]:.4f} m")

net.eval()
with torch.no_grad():
    model_err, naive_err = [], []
    for _ in range(20):
        xb, yb = batch(split, n_win, 256)
        model_err.append((net(xb) - yb).abs().mean().item())
        naive_err.append((xb[:, -1, 3] - yb).abs().mean().item())
print(f"test MAE {np.mean(model_err) * sd[3]:.4f} m, persistence {np.mean(naive_err) * sd[3]:.4f} m")
'''
CURED = FAULTY.replace("X = np.stack([series[:, t:t + WIN] for t in range(n_win)], axis=1)",
                       "X = sliding_window_view(series, WIN, axis=1)[:, :n_win].transpose(0, 1, 3, 2)")
