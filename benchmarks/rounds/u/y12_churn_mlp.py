NAME = 'Trains an MLP on tabular churn data and keeps a CSV history of the training metrics.'
FAULT = 'After every step the whole history table is copied by concat and written to the CSV file again, a cost that grows with the square of the number of steps.'
CURE = 'Collect the rows in a list and build and write the table once at the end.'
KIND = 'time'
FAULT_LINES = ['history = pd.concat([history, pd.DataFrame([row])], ignore_index=True)', 'history.to_csv(log_path, index=False)']
FAULT_CALLS = ['to_csv', 'concat', 'DataFrame']

FAULTY = r'''
import os
import tempfile
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

# ---- data -------------------------------------------------------------
n = 40_000
df = pd.DataFrame({
    "tenure": rng.integers(1, 73, n),
    "monthly": rng.normal(65, 25, n).clip(15),
    "calls": rng.poisson(1.5, n),
    "contract": rng.choice(["month", "year", "two"], n, p=[0.55, 0.25, 0.2]),
    "payment": rng.choice(["card", "check", "transfer", "wallet"], n),
    "region": rng.choice([f"r{i}" for i in range(12)], n),
})
logit = (-0.04 * df.tenure + 0.02 * df.monthly + 0.5 * df.calls
         + df.contract.map({"month": 1.0, "year": -0.5, "two": -1.5}) - 1.2)
df["churn"] = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")

num = df[["tenure", "monthly", "calls"]]
num = (num - num.mean()) / num.std()
cat = pd.get_dummies(df[["contract", "payment", "region"]], dtype="float32")
X = torch.tensor(np.hstack([num.to_numpy("float32"), cat.to_numpy("float32")]))
y = torch.tensor(df["churn"].to_numpy())
order = torch.randperm(n)
tr, va = order[:32_000], order[32_000:]
X_tr, y_tr, X_va, y_va = X[tr], y[tr], X[va], y[va]

# ---- model ------------------------------------------------------------
model = nn.Sequential(
    nn.Linear(X.shape[1], 256), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(256, 1),
)
loss_fn = nn.BCEWithLogitsLoss()
epochs, bs = 6, 128
steps = epochs * (len(X_tr) // bs)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=steps)

log_dir = tempfile.mkdtemp()
log_path = os.path.join(log_dir, "history.csv")
history = pd.DataFrame()

# ---- training ---------------------------------------------------------
step = 0
for epoch in range(epochs):
    model.train()
    perm = torch.randperm(len(X_tr))
    for start in range(0, len(X_tr), bs):
        idx = perm[start:start + bs]
        xb, yb = X_tr[idx], y_tr[idx]
        out = model(xb).squeeze(1)
        loss = loss_fn(out, yb)
        opt.zero_grad()
        loss.backward()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        row = {"epoch": epoch, "step": step, "loss": loss.item(),
               "grad_norm": gnorm.item(), "lr": sched.get_last_lr()[0],
               "acc": ((out > 0).float() == yb).float().mean().item()}
        history = pd.concat([history, pd.DataFrame([row])], ignore_index=True)
        history.to_csv(log_path, index=False)
        sched.step()
        step += 1
    model.eval()
    with torch.no_grad():
        p = model(X_va).squeeze(1)
        print(f"epoch {epoch}  val loss {loss_fn(p, y_va).item():.4f}  "
              f"val acc {((p > 0).float() == y_va).float().mean().item():.4f}")

log = pd.read_csv(log_path)
print(log.groupby("epoch")[["loss", "acc", "grad_norm"]].mean().round(4).to_string())
os.remove(log_path)
os.rmdir(log_dir)
'''

CURED = r'''
import os
import tempfile
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

# ---- data -------------------------------------------------------------
n = 40_000
df = pd.DataFrame({
    "tenure": rng.integers(1, 73, n),
    "monthly": rng.normal(65, 25, n).clip(15),
    "calls": rng.poisson(1.5, n),
    "contract": rng.choice(["month", "year", "two"], n, p=[0.55, 0.25, 0.2]),
    "payment": rng.choice(["card", "check", "transfer", "wallet"], n),
    "region": rng.choice([f"r{i}" for i in range(12)], n),
})
logit = (-0.04 * df.tenure + 0.02 * df.monthly + 0.5 * df.calls
         + df.contract.map({"month": 1.0, "year": -0.5, "two": -1.5}) - 1.2)
df["churn"] = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")

num = df[["tenure", "monthly", "calls"]]
num = (num - num.mean()) / num.std()
cat = pd.get_dummies(df[["contract", "payment", "region"]], dtype="float32")
X = torch.tensor(np.hstack([num.to_numpy("float32"), cat.to_numpy("float32")]))
y = torch.tensor(df["churn"].to_numpy())
order = torch.randperm(n)
tr, va = order[:32_000], order[32_000:]
X_tr, y_tr, X_va, y_va = X[tr], y[tr], X[va], y[va]

# ---- model ------------------------------------------------------------
model = nn.Sequential(
    nn.Linear(X.shape[1], 256), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(256, 1),
)
loss_fn = nn.BCEWithLogitsLoss()
epochs, bs = 6, 128
steps = epochs * (len(X_tr) // bs)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=steps)

log_dir = tempfile.mkdtemp()
log_path = os.path.join(log_dir, "history.csv")
history = []

# ---- training ---------------------------------------------------------
step = 0
for epoch in range(epochs):
    model.train()
    perm = torch.randperm(len(X_tr))
    for start in range(0, len(X_tr), bs):
        idx = perm[start:start + bs]
        xb, yb = X_tr[idx], y_tr[idx]
        out = model(xb).squeeze(1)
        loss = loss_fn(out, yb)
        opt.zero_grad()
        loss.backward()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        row = {"epoch": epoch, "step": step, "loss": loss.item(),
               "grad_norm": gnorm.item(), "lr": sched.get_last_lr()[0],
               "acc": ((out > 0).float() == yb).float().mean().item()}
        history.append(row)
        sched.step()
        step += 1
    model.eval()
    with torch.no_grad():
        p = model(X_va).squeeze(1)
        print(f"epoch {epoch}  val loss {loss_fn(p, y_va).item():.4f}  "
              f"val acc {((p > 0).float() == y_va).float().mean().item():.4f}")

pd.DataFrame(history).to_csv(log_path, index=False)
log = pd.read_csv(log_path)
print(log.groupby("epoch")[["loss", "acc", "grad_norm"]].mean().round(4).to_string())
os.remove(log_path)
os.rmdir(log_dir)
'''
