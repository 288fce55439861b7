NAME = "Trains a small 1D CNN that tells classes of variable stars apart from irregular light curves kept in a long pandas table."
FAULT = "Every __getitem__ scans the whole observation table with a boolean mask to find the rows of one star, so each epoch is quadratic in the size of the survey."
CURE = "Group the table by star once in the constructor and look the group up in __getitem__."
KIND = "time"
FAULT_LINES = ["lc = self.table[self.table.object_id == oid]"]
FAULT_CALLS = ["__getitem__", "eq", "_cmp_method", "comparison_op", "comp_method_OBJECT_ARRAY", "_getitem_bool_array"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

N_STARS, GRID, EPOCHS = 2500, 96, 3
CLASSES = ["sine", "sawtooth", "eclipse"]


def make_survey():
    parts, meta = [], []
    for i in range(N_STARS):
        oid = 640_000_000 + 17 * i
        kind = rng.integers(3)
        period = rng.uniform(0.4, 3.0)
        n = rng.integers(80, 160)
        mjd = np.sort(rng.uniform(58000, 58090, n))
        ph = ((mjd - 58000) / period + rng.uniform()) % 1.0
        if kind == 0:
            sig = np.sin(2 * np.pi * ph)
        elif kind == 1:
            sig = 2 * ph - 1
        else:
            sig = -1.5 * np.exp(-((ph - 0.5) / 0.06) ** 2)
        err = rng.uniform(0.1, 0.5, n)
        parts.append(pd.DataFrame(dict(object_id=oid, mjd=mjd, flux=sig + err * rng.normal(size=n), flux_err=err)))
        meta.append((oid, kind, period))
    obs = pd.concat(parts).sample(frac=1.0, random_state=3).reset_index(drop=True)
    obs["mjd"] = obs.mjd.astype("float32")
    return obs, pd.DataFrame(meta, columns=["object_id", "label", "period"])


class LightCurves(Dataset):
    """One phase-folded, binned light curve per star, with noise redrawn every time."""

    def __init__(self, table, meta, augment):
        self.table = table
        self.ids = meta.object_id.tolist()
        self.labels = meta.label.tolist()
        self.periods = meta.period.tolist()
        self.augment = augment

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        oid = self.ids[i]
        lc = self.table[self.table.object_id == oid]
        t = lc.mjd.to_numpy()
        flux = lc.flux.to_numpy()
        w = 1.0 / lc.flux_err.to_numpy() ** 2
        if self.augment:
            flux = flux + 0.2 * np.random.normal(size=len(flux)) / np.sqrt(w)
        cell = (((t - 58000) / self.periods[i]) % 1.0 * GRID).astype(int) % GRID
        total = np.bincount(cell, weights=w, minlength=GRID)
        mean = np.bincount(cell, weights=w * flux, minlength=GRID) / np.maximum(total, 1e-9)
        x = np.stack([mean, (total > 0).astype(float)])
        return torch.from_numpy(x).float(), self.labels[i]


class FoldNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.c1 = nn.Conv1d(2, width, 7, padding=3, padding_mode="circular")
        self.c2 = nn.Conv1d(width, width, 7, padding=3, padding_mode="circular")
        self.c3 = nn.Conv1d(width, 2 * width, 5, padding=2, padding_mode="circular")
        self.head = nn.Linear(2 * width, 3)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.max_pool1d(F.relu(self.c2(x)), 2)
        x = F.relu(self.c3(x))
        return self.head(x.amax(-1))


np.random.seed(0)
obs, meta = make_survey()
train_ds = LightCurves(obs, meta.iloc[:2200], augment=True)
test_ds = LightCurves(obs, meta.iloc[2200:], augment=False)
train_dl = DataLoader(train_ds, batch_size=50, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=100)

net = FoldNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_dl)
    print(f"epoch {epoch}: loss {running / len(train_ds):.3f}  test acc {hits / len(test_ds):.3f}")
print(len(obs), "observations of", len(meta), "stars, classes:", ", ".join(CLASSES))
'''
CURED = FAULTY.replace("        self.table = table\n", "        self.table = {k: g for k, g in table.groupby(\"object_id\")}\n").replace(
    "lc = self.table[self.table.object_id == oid]", "lc = self.table[oid]")
