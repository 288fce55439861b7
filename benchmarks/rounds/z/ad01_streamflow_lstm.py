NAME = "Trains an LSTM that predicts daily streamflow of several basins from windows of weather forcings."
FAULT = "Each sample is cut out of a pandas frame by label (date slice plus column list) and converted again, which costs many times the read of a ready array, for every window in every epoch."
CURE = "Convert the forcings and the flow of each basin once to float32 arrays in __init__ and slice them by position in __getitem__."
KIND = "time"
FAULT_LINES = ["window = frame.loc[first:last, FORCINGS]",
               "x = (window - self.mean) / self.std",
               "def __getitem__(self, i):",
               "y = frame.loc[last, \"flow\"]",
               "return torch.tensor(x.values, dtype=torch.float32), torch.tensor([y], dtype=torch.float32)"]
FAULT_CALLS = ["__getitem__", "loc", "_LocIndexer.__getitem__", "slice_indexer", "__sub__", "__truediv__", "_arith_method", "fetch", "_next_data"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

FORCINGS = ["precip", "tmin", "tmax", "radiation", "vapour"]
SEQ = 90
N_BASINS = 8


def make_basin(k):
    days = pd.date_range("1995-01-01", periods=1500, freq="D")
    season = np.sin(2 * np.pi * (days.day_of_year.values - 110) / 365.25)
    precip = rng.gamma(0.4, 9.0, len(days)) * (rng.random(len(days)) < 0.45)
    tmin = 4 + 9 * season + rng.normal(0, 2, len(days))
    tmax = tmin + 8 + rng.normal(0, 1.5, len(days))
    store, flow = 30.0, np.zeros(len(days))
    decay = 0.03 + 0.01 * k
    for t in range(len(days)):
        store += precip[t] - 0.12 * max(tmax[t], 0) * min(store / 60, 1)
        flow[t] = decay * max(store, 0)
        store -= flow[t]
    return pd.DataFrame({"precip": precip, "tmin": tmin, "tmax": tmax,
                         "radiation": 180 + 110 * season + rng.normal(0, 20, len(days)),
                         "vapour": 900 + 300 * season + rng.normal(0, 50, len(days)),
                         "flow": flow}, index=days)


basins = {k: make_basin(k) for k in range(N_BASINS)}
split = pd.Timestamp("1998-01-01")
past = pd.concat([f[f.index < split] for f in basins.values()])
mean, std = past[FORCINGS].mean(), past[FORCINGS].std()


class BasinWindows(Dataset):
    def __init__(self, frames, mean, std, start, stop, stride):
        self.frames, self.mean, self.std = frames, mean, std
        self.samples = []
        for k, frame in frames.items():
            lo = max(frame.index.searchsorted(start), SEQ)
            hi = frame.index.searchsorted(stop)
            self.samples += [(k, pos) for pos in range(lo, hi, stride)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        k, pos = self.samples[i]
        frame = self.frames[k]
        first, last = frame.index[pos - SEQ + 1], frame.index[pos]
        window = frame.loc[first:last, FORCINGS]
        x = (window - self.mean) / self.std
        y = frame.loc[last, "flow"]
        return torch.tensor(x.values, dtype=torch.float32), torch.tensor([y], dtype=torch.float32)


class FlowLSTM(nn.Module):
    def __init__(self, n_in, hidden=64):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(hidden, 1))

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


begin, end = pd.Timestamp("1995-01-01"), pd.Timestamp("1999-02-01")
train_loader = DataLoader(BasinWindows(basins, mean, std, begin, split, 5), batch_size=128, shuffle=True)
test_loader = DataLoader(BasinWindows(basins, mean, std, split, end, 5), batch_size=256)
model = FlowLSTM(len(FORCINGS))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(5):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
    print(f"epoch {epoch}: train mse {running / len(train_loader.dataset):.3f}")

model.eval()
sim, obs = [], []
with torch.no_grad():
    for x, y in test_loader:
        sim.append(model(x))
        obs.append(y)
sim, obs = torch.cat(sim), torch.cat(obs)
nse = 1 - ((sim - obs) ** 2).sum() / ((obs - obs.mean()) ** 2).sum()
print(f"test NSE {nse.item():.3f} on {len(obs)} days")
'''
CURED = FAULTY.replace('''        self.samples = []
''', '''        self.x = {k: ((f[FORCINGS] - mean) / std).to_numpy(np.float32) for k, f in frames.items()}
        self.y = {k: f["flow"].to_numpy(np.float32) for k, f in frames.items()}
        self.samples = []
''').replace('''        frame = self.frames[k]
        first, last = frame.index[pos - SEQ + 1], frame.index[pos]
        window = frame.loc[first:last, FORCINGS]
        x = (window - self.mean) / self.std
        y = frame.loc[last, "flow"]
        return torch.tensor(x.values, dtype=torch.float32), torch.tensor([y], dtype=torch.float32)
''', '''        return torch.from_numpy(self.x[k][pos - SEQ + 1:pos + 1]), torch.from_numpy(self.y[k][pos:pos + 1])
''')
