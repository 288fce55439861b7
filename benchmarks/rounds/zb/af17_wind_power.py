NAME = "Fits an LSTM to turbine power and rolls it forward to produce day-ahead forecasts."
FAULT = "In the roll-out the whole history plus all earlier forecasts is run through the LSTM again for each new step, although its state after the previous step is at hand."
CURE = "Warm up on the history once, then feed only the newest value and carry the (h, c) state."
KIND = "time"
FAULT_LINES = ["        pred, _ = model(seq)", "        seq = torch.cat([seq, nxt], dim=1)"]
FAULT_CALLS = ["lstm", "forecast", "mkldnn_rnn_layer", "forward", "linear", "addmm", "mm", "cat"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

# --- synthetic 30-minute SCADA log of one turbine -------------------------------
n = 48 * 150
t = np.arange(n)
wind = np.zeros(n)
for i in range(1, n):
    wind[i] = 0.985 * wind[i - 1] + rng.normal(0, 0.35)
wind = 8 + wind + 1.2 * np.sin(2 * np.pi * t / 48)
power = 1 / (1 + np.exp(-(wind - 8.5) / 1.3)) + rng.normal(0, 0.01, n)
log = pd.DataFrame({
    "power": power,
    "sin": np.sin(2 * np.pi * t / 48),
    "cos": np.cos(2 * np.pi * t / 48),
})
values = torch.tensor(log.to_numpy(), dtype=torch.float32)
split = int(0.8 * n)
HISTORY, HORIZON = 96, 48


class PowerLSTM(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return x[..., :1] + self.out(h), state


def windows(series, length, stride):
    return series.unfold(0, length, stride).transpose(1, 2).contiguous()


model = PowerLSTM()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
train_w = windows(values[:split], HISTORY + 1, 12)

for epoch in range(10):
    total = 0.0
    for idx in torch.randperm(len(train_w)).split(64):
        w = train_w[idx]
        pred, _ = model(w[:, :-1])
        loss = nn.functional.mse_loss(pred, w[:, 1:, :1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch}: one-step rmse {np.sqrt(total / len(train_w)):.4f}")


@torch.no_grad()
def forecast(model, history, calendar):
    """history (B, HISTORY, 3), calendar (B, HORIZON, 2) -> power (B, HORIZON)"""
    model.eval()
    seq = history
    steps = []
    for k in range(calendar.shape[1]):
        pred, _ = model(seq)
        power = pred[:, -1:].clamp(0, 1.05)
        steps.append(power[:, 0, 0])
        nxt = torch.cat([power, calendar[:, k:k + 1]], dim=2)
        seq = torch.cat([seq, nxt], dim=1)
    return torch.stack(steps, dim=1)


test_w = windows(values[split:], HISTORY + HORIZON, 1)
errors = []
for w in test_w.split(64):
    fc = forecast(model, w[:, :HISTORY], w[:, HISTORY:, 1:])
    errors.append((fc - w[:, HISTORY:, 0]).abs())
errors = torch.cat(errors)
naive = (test_w[:, HISTORY - 1:HISTORY, 0] - test_w[:, HISTORY:, 0]).abs()

table = pd.DataFrame({"lstm": errors.mean(0).numpy(), "persistence": naive.mean(0).numpy()})
table.index = (table.index + 1) / 2
print(table.iloc[[0, 5, 11, 23, 47]].round(4).to_string())
'''
CURED = (FAULTY
         .replace("    seq = history\n", "    seq, state = history, None\n")
         .replace("        pred, _ = model(seq)\n", "        pred, state = model(seq, state)\n")
         .replace("        nxt = torch.cat([power, calendar[:, k:k + 1]], dim=2)\n        seq = torch.cat([seq, nxt], dim=1)\n",
                  "        seq = torch.cat([power, calendar[:, k:k + 1]], dim=2)\n"))
