NAME = "A recurrent model estimates a rider's power output from speed, gradient, cadence and heart rate of simulated bicycle rides."
FAULT = "The whole model and data run in float64, only because the NumPy arrays came in that type and the model was converted to fit."
CURE = "Convert the arrays to float32 and leave the model in float32."
KIND = "time"
FAULT_LINES = ["model = PowerNet(X.shape[-1]).double()", "X = torch.from_numpy(X)", "Y = torch.from_numpy(Y)"]
FAULT_CALLS = ["lstm", "linear", "mm", "addmm", "backward", "double", "from_numpy", "t", "sigmoid", "tanh"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(14)
torch.manual_seed(14)

WIN = 60


def ride(minutes=70, rider_mass=75.0):
    n = minutes * 60
    grad = np.clip(np.convolve(np.random.randn(n), np.ones(120) / 120, "same") * 0.25, -0.08, 0.1)
    target = 190 + 40 * np.sin(np.arange(n) / 300) + np.convolve(np.random.randn(n), np.ones(20) / 20, "same") * 120
    power = np.clip(target + 900 * grad, 0, 700)
    v, speed = 7.0, np.empty(n)
    for i in range(n):
        drag = 0.5 * 1.2 * 0.32 * v * v + (rider_mass + 9) * 9.81 * (0.005 + grad[i])
        v = max(1.0, v + (power[i] / v - drag) / (rider_mass + 9))
        speed[i] = v
    hr = pd.Series(60 + 0.42 * power).ewm(halflife=25).mean().to_numpy() + np.random.randn(n) * 1.5
    cadence = np.clip(70 + 0.08 * power + 4 * np.random.randn(n), 0, 130)
    return pd.DataFrame({"speed": speed + 0.1 * np.random.randn(n), "grad": grad, "hr": hr,
                         "cadence": cadence, "power": power})


def prepare(df, feats=("speed", "grad", "hr", "cadence")):
    z = df[list(feats)].copy()
    z["dv"] = z["speed"].diff().fillna(0.0)
    z["hr_slow"] = z["hr"].rolling(30, min_periods=1).mean()
    z = (z - z.mean()) / z.std()
    k = len(z) // WIN
    x = z.to_numpy()[:k * WIN].reshape(k, WIN, -1)
    y = df["power"].to_numpy()[:k * WIN].reshape(k, WIN) / 100.0
    return x, y


class PowerNet(nn.Module):
    def __init__(self, n_in, hidden=96):
        super().__init__()
        self.proj = nn.Linear(n_in, 48)
        self.rnn = nn.LSTM(48, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, x):
        h, _ = self.rnn(torch.tanh(self.proj(x)))
        return self.head(h).squeeze(-1)


rides = [prepare(ride(rider_mass=m)) for m in np.linspace(62, 90, 14)]
X = np.concatenate([r[0] for r in rides])
Y = np.concatenate([r[1] for r in rides])
print("windows", X.shape, "mean power", round(Y.mean() * 100, 1))
X = torch.from_numpy(X)
Y = torch.from_numpy(Y)

order = torch.randperm(len(X))
cut = int(0.8 * len(X))
tr, te = order[:cut], order[cut:]

model = PowerNet(X.shape[-1]).double()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=14)
loss_fn = nn.HuberLoss()

for epoch in range(14):
    model.train()
    running = []
    for b in tr[torch.randperm(len(tr))].split(64):
        pred = model(X[b])
        loss = loss_fn(pred, Y[b])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        running.append(loss.item())
    sched.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch}: huber {np.mean(running):.3f}")

model.eval()
with torch.no_grad():
    p = model(X[te]) * 100
err = p - Y[te] * 100
print(f"test MAE {err.abs().mean().item():.0f} W, bias {err.mean().item():.0f} W")
'''
CURED = (FAULTY.replace("X = torch.from_numpy(X)", "X = torch.from_numpy(X.astype(np.float32))")
         .replace("Y = torch.from_numpy(Y)", "Y = torch.from_numpy(Y.astype(np.float32))")
         .replace("PowerNet(X.shape[-1]).double()", "PowerNet(X.shape[-1])"))
