NAME = "Forecasts the sign and size of the next hour's return of a synthetic minute-bar series with a strided temporal convolution network."
FAULT = "All overlapping 256-bar windows are copied into one big tensor by torch.stack, so that each bar is stored 256 times."
CURE = "Use feats.unfold(0, WINDOW, 1), a view on the series of the same shape; the batches are gathered from it by index as before."
KIND = "memory"
FAULT_LINES = ["X = torch.stack([feats[t:t + WINDOW].T for t in range(n_win)])"]
FAULT_CALLS = ["stack", "cat"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.set_num_threads(1)
np.random.seed(7)
torch.manual_seed(7)

# --- synthetic minute bars: AR(1) drift, clustered volatility, volume that follows volatility
T, WINDOW, HORIZON = 52_000, 256, 60
rng = np.random.default_rng(7)
logvol = np.empty(T)
drift = np.empty(T)
logvol[0], drift[0] = 0.0, 0.0
e1, e2 = rng.normal(size=T), rng.normal(size=T)
for t in range(1, T):
    logvol[t] = 0.995 * logvol[t - 1] + 0.06 * e1[t]
    drift[t] = 0.990 * drift[t - 1] + 0.02 * e2[t]
ret = drift * 0.3 + np.exp(logvol) * rng.normal(size=T)
df = pd.DataFrame({"ret": ret, "volume": np.exp(0.8 * logvol + 0.3 * rng.normal(size=T))})

# --- features
df["absret"] = df["ret"].abs()
df["ma20"] = df["ret"].rolling(20, min_periods=1).mean()
df["ma120"] = df["ret"].rolling(120, min_periods=1).mean()
df["vol60"] = df["ret"].rolling(60, min_periods=2).std().bfill()
df["volume"] = np.log(df["volume"])
df["volchg"] = df["volume"].diff(30).fillna(0.0)
df["mom"] = df["ma20"] - df["ma120"]
df = (df - df.mean()) / df.std()
feats = torch.from_numpy(df.to_numpy(dtype=np.float32))

future = pd.Series(ret).rolling(HORIZON).mean().shift(-HORIZON)
n_win = T - WINDOW - HORIZON
target = torch.tensor(future.to_numpy()[WINDOW - 1:WINDOW - 1 + n_win], dtype=torch.float32)
target = target / target.std()

# --- windows: (n_win, features, WINDOW)
X = torch.stack([feats[t:t + WINDOW].T for t in range(n_win)])
split = int(0.8 * n_win)
train_idx = torch.arange(0, split - WINDOW)
test_idx = torch.arange(split, n_win, 4)
print("windows", tuple(X.shape), "train", len(train_idx), "test", len(test_idx))


class TCN(nn.Module):
    def __init__(self, n_feat, width=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(n_feat, width, 8, stride=4), nn.GELU(),
            nn.Conv1d(width, width, 4, stride=2), nn.GELU(),
            nn.Conv1d(width, width, 4, stride=2), nn.GELU(),
        )
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x).mean(-1)).squeeze(-1)


model = TCN(feats.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
lossf = nn.HuberLoss()


def evaluate():
    model.eval()
    with torch.no_grad():
        p = torch.cat([model(X[i]) for i in test_idx.split(1024)])
    y = target[test_idx]
    ic = np.corrcoef(p.numpy(), y.numpy())[0, 1]
    hit = ((p > 0) == (y > 0)).float().mean().item()
    return ic, hit


for epoch in range(3):
    model.train()
    running = 0.0
    perm = train_idx[torch.randperm(len(train_idx))]
    batches = perm.split(256)
    for idx in batches:
        loss = lossf(model(X[idx]), target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    ic, hit = evaluate()
    print(f"epoch {epoch}: huber {running / len(batches):.3f}  IC {ic:.3f}  hit rate {hit:.3f}")
'''
CURED = FAULTY.replace(
    "X = torch.stack([feats[t:t + WINDOW].T for t in range(n_win)])",
    "X = feats.unfold(0, WINDOW, 1)[:n_win]",
)
