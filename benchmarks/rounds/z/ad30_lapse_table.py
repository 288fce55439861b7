NAME = "Fits a neural proportional-hazards model to policy lapse times and derives a table of survival per risk decile."
FAULT = "The partial likelihood builds an n-by-n risk-set matrix and reduces over it, quadratic work for what a running sum over sorted times gives."
CURE = "Sort by descending time and use logcumsumexp for the risk sets."
KIND = "time"
FAULT_LINES = ["    at_risk = time[None, :] >= time[:, None]", "    scores = eta[None, :].masked_fill(~at_risk, float(\"-inf\"))", "    log_den = torch.logsumexp(scores, dim=1)"]
FAULT_CALLS = ["cox_loss", "logsumexp", "masked_fill", "ge", "LogsumexpBackward0"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)


def simulate_policies(n):
    d = pd.DataFrame({
        "age": rng.uniform(20, 75, n),
        "premium": rng.lognormal(6.5, 0.5, n),
        "sum_assured": rng.lognormal(11, 0.6, n),
        "smoker": rng.binomial(1, 0.2, n),
        "channel": rng.integers(0, 4, n),
        "rate_gap": rng.normal(0, 1, n),
        "payment_months": rng.choice([1, 3, 12], n),
    })
    risk = (0.03 * (50 - d["age"]) + 0.4 * d["smoker"] + 0.5 * np.tanh(d["rate_gap"])
            + 0.3 * (d["channel"] == 2) - 0.2 * (d["payment_months"] == 12))
    t = rng.exponential(12 * np.exp(-risk))
    c = rng.uniform(1, 25, n)
    d["duration"] = np.minimum(t, c)
    d["lapsed"] = (t <= c).astype(int)
    return d


policies = simulate_policies(24000)
X = pd.get_dummies(policies.drop(columns=["duration", "lapsed"]), columns=["channel", "payment_months"]).astype(float)
X["premium"] = np.log(X["premium"])
X["sum_assured"] = np.log(X["sum_assured"])
X = (X - X.mean()) / X.std()
X = torch.tensor(X.to_numpy(), dtype=torch.float32)
T = torch.tensor(policies["duration"].to_numpy(), dtype=torch.float32)
E = torch.tensor(policies["lapsed"].to_numpy(), dtype=torch.bool)


def cox_loss(eta, time, event):
    """Negative Breslow partial log-likelihood per event."""
    at_risk = time[None, :] >= time[:, None]
    scores = eta[None, :].masked_fill(~at_risk, float("-inf"))
    log_den = torch.logsumexp(scores, dim=1)
    return (log_den - eta)[event].mean()


class HazardNet(nn.Module):
    def __init__(self, d, width=384):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1, bias=False))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


n_train = 20000
net = HazardNet(X.shape[1])
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
batch = 2000
for epoch in range(16):
    order = torch.randperm(n_train)
    losses = []
    for b in range(0, n_train, batch):
        i = order[b:b + batch]
        loss = cox_loss(net(X[i]), T[i], E[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 4 == 3:
        print(f"epoch {epoch}: partial likelihood loss {np.mean(losses):.3f}")

with torch.no_grad():
    eta = net(X).numpy()
policies["decile"] = pd.qcut(eta, 10, labels=False)
hold = policies.iloc[n_train:]
table = []
for dec, g in hold.groupby("decile"):
    g = g.sort_values("duration")
    at_risk = np.arange(len(g), 0, -1)
    km = np.cumprod(1 - g["lapsed"].to_numpy() / at_risk)
    s5 = km[np.searchsorted(g["duration"].to_numpy(), 5.0) - 1]
    table.append(s5)
print("5-year persistency by decile:", " ".join(f"{s:.2f}" for s in table))
'''
CURED = FAULTY.replace('''    at_risk = time[None, :] >= time[:, None]
    scores = eta[None, :].masked_fill(~at_risk, float("-inf"))
    log_den = torch.logsumexp(scores, dim=1)
''', '''    order = torch.argsort(time, descending=True)
    eta, event = eta[order], event[order]
    log_den = torch.logcumsumexp(eta, dim=0)
''')
