NAME = "Predicts ICU deterioration from tabular vitals and estimates uncertainty by Monte Carlo dropout."
FAULT = None
CURE = None
KIND = None
LOOKS = "Predicting 170 times over the same patients with model.train() looks like a forgotten eval() and repeated work; every pass draws other dropout masks (from the input on), which is the point of Monte Carlo dropout."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(99)
rng = np.random.default_rng(99)

# ---- cohort -------------------------------------------------------------
n = 12000
df = pd.DataFrame({
    "age": rng.normal(64, 14, n).clip(18, 95),
    "hr": rng.normal(88, 17, n),
    "sbp": rng.normal(118, 20, n),
    "spo2": 100 - rng.gamma(2.0, 1.8, n),
    "rr": rng.normal(19, 5, n),
    "temp": rng.normal(37.1, 0.8, n),
    "lactate": rng.gamma(2.0, 0.9, n),
    "creatinine": rng.gamma(2.5, 0.5, n),
    "wbc": rng.gamma(5.0, 2.1, n),
    "gcs": rng.choice(np.arange(3, 16), n, p=np.r_[np.full(12, 0.025), 0.7]),
})
for lag in range(1, 4):
    for c in ("hr", "sbp", "spo2", "rr"):
        df[f"{c}_lag{lag}"] = df[c] + rng.normal(0, df[c].std() / 3, n)
risk = (0.03 * (df.age - 64) + 0.05 * (df.rr - 19) - 0.03 * (df.sbp - 118)
        - 0.15 * (df.spo2 - 96) + 0.8 * (df.lactate - 1.8) - 0.2 * (df.gcs - 13)
        + 0.02 * (df.hr - 88) * (df.lactate > 2.5) - 1.6)
y = (rng.random(n) < 1 / (1 + np.exp(-risk.to_numpy()))).astype(np.float32)
X = ((df - df.mean()) / df.std()).to_numpy(dtype=np.float32)
X, y = torch.from_numpy(X), torch.from_numpy(y)
X_tr, y_tr, X_te, y_te = X[:8000], y[:8000], X[8000:], y[8000:]
print(f"{len(X_tr)} training stays, event rate {y_tr.mean().item():.3f}")

# ---- model --------------------------------------------------------------
model = nn.Sequential(
    nn.Dropout(0.05),
    nn.Linear(X.shape[1], 192), nn.GELU(), nn.Dropout(0.2),
    nn.Linear(192, 192), nn.GELU(), nn.Dropout(0.2),
    nn.Linear(192, 1), nn.Flatten(0),
)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
bce = nn.BCEWithLogitsLoss()

for epoch in range(12):
    model.train()
    losses = []
    for idx in torch.randperm(len(X_tr)).split(250):
        loss = bce(model(X_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

# ---- Monte Carlo dropout ------------------------------------------------
model.train()
PASSES = 170
draws = torch.empty(PASSES, len(X_te))
with torch.no_grad():
    for k in range(PASSES):
        draws[k] = torch.cat([torch.sigmoid(model(part)) for part in X_te.split(1000)])

mean = draws.mean(0)


def entropy(p):
    p = p.clamp(1e-6, 1 - 1e-6)
    return -(p * p.log() + (1 - p) * (1 - p).log())


epistemic = entropy(mean) - entropy(draws).mean(0)
right = ((mean > 0.5).float() == y_te).float()
order = epistemic.argsort()
print(f"accuracy, all: {right.mean().item():.4f}")
for keep in (0.9, 0.7, 0.5):
    part = order[: int(keep * len(order))]
    print(f"accuracy, {keep:.0%} most certain: {right[part].mean().item():.4f}")
print(f"Brier score {(mean - y_te).pow(2).mean().item():.4f}, mean spread {draws.std(0).mean().item():.4f}")
'''
