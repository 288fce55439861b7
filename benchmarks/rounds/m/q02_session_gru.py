NAME = 'Builds per-user click sequences from an event log with pandas and trains a GRU that predicts conversion.'

FAULT = 'The sequences are built by filtering the whole event table with a boolean mask once per user.'

CURE = 'Go through the users with one groupby (rows are already sorted by time).'

KIND = 'time'

FAULT_LINES = ['rows = log[log["user"] == uid]', 'for uid in log["user"].unique():']

FAULT_CALLS = ['pandas.Series.__eq__', 'pandas.DataFrame.__getitem__', 'build_sequences']

FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

N_USERS, N_EVENTS, N_PAGES, MAX_LEN = 1000, 66_000, 60, 40


def make_log():
    users = np.array([f"u{i:05d}" for i in range(N_USERS)])
    uid = rng.integers(0, N_USERS, N_EVENTS)
    taste = rng.random(N_USERS)
    page = np.where(rng.random(N_EVENTS) < 0.5 * taste[uid],
                    rng.integers(0, 12, N_EVENTS), rng.integers(12, N_PAGES, N_EVENTS))
    log = pd.DataFrame({
        "user": users[uid],
        "ts": rng.integers(1_700_000_000, 1_705_000_000, N_EVENTS),
        "page": page,
        "dwell": rng.gamma(2.0, 12.0, N_EVENTS).astype("float32"),
    })
    label = dict(zip(users, (taste + 0.15 * rng.standard_normal(N_USERS) > 0.55).astype("float32")))
    return log, label


def build_sequences(log, label):
    log = log.sort_values("ts", kind="stable")
    pages, dwell, target = [], [], []
    for uid in log["user"].unique():
        rows = log[log["user"] == uid]
        p = rows["page"].to_numpy()[-MAX_LEN:]
        d = np.log1p(rows["dwell"].to_numpy()[-MAX_LEN:])
        pad = MAX_LEN - len(p)
        pages.append(np.pad(p + 1, (pad, 0)))
        dwell.append(np.pad(d, (pad, 0)))
        target.append(label[uid])
    return (torch.from_numpy(np.stack(pages)), torch.from_numpy(np.stack(dwell)),
            torch.tensor(target))


class Converter(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(N_PAGES + 1, 24, padding_idx=0)
        self.gru = nn.GRU(25, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, page, dwell):
        x = torch.cat([self.emb(page), dwell.unsqueeze(-1)], dim=-1)
        _, h = self.gru(x)
        return self.head(h[-1]).squeeze(-1)


log, label = make_log()
page, dwell, y = build_sequences(log, label)
n_train = int(0.8 * len(y))

net = Converter()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(6):
    order = torch.randperm(n_train)
    total = 0.0
    for idx in order.split(32):
        opt.zero_grad()
        loss = loss_fn(net(page[idx], dwell[idx]), y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch}  loss {total / n_train:.4f}")

with torch.no_grad():
    acc = ((net(page[n_train:], dwell[n_train:]) > 0) == (y[n_train:] > 0.5)).float().mean()
print(f"test accuracy {acc:.4f}")
"""

CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

N_USERS, N_EVENTS, N_PAGES, MAX_LEN = 1000, 66_000, 60, 40


def make_log():
    users = np.array([f"u{i:05d}" for i in range(N_USERS)])
    uid = rng.integers(0, N_USERS, N_EVENTS)
    taste = rng.random(N_USERS)
    page = np.where(rng.random(N_EVENTS) < 0.5 * taste[uid],
                    rng.integers(0, 12, N_EVENTS), rng.integers(12, N_PAGES, N_EVENTS))
    log = pd.DataFrame({
        "user": users[uid],
        "ts": rng.integers(1_700_000_000, 1_705_000_000, N_EVENTS),
        "page": page,
        "dwell": rng.gamma(2.0, 12.0, N_EVENTS).astype("float32"),
    })
    label = dict(zip(users, (taste + 0.15 * rng.standard_normal(N_USERS) > 0.55).astype("float32")))
    return log, label


def build_sequences(log, label):
    log = log.sort_values("ts", kind="stable")
    pages, dwell, target = [], [], []
    for uid, rows in log.groupby("user", sort=False):
        p = rows["page"].to_numpy()[-MAX_LEN:]
        d = np.log1p(rows["dwell"].to_numpy()[-MAX_LEN:])
        pad = MAX_LEN - len(p)
        pages.append(np.pad(p + 1, (pad, 0)))
        dwell.append(np.pad(d, (pad, 0)))
        target.append(label[uid])
    return (torch.from_numpy(np.stack(pages)), torch.from_numpy(np.stack(dwell)),
            torch.tensor(target))


class Converter(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(N_PAGES + 1, 24, padding_idx=0)
        self.gru = nn.GRU(25, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, page, dwell):
        x = torch.cat([self.emb(page), dwell.unsqueeze(-1)], dim=-1)
        _, h = self.gru(x)
        return self.head(h[-1]).squeeze(-1)


log, label = make_log()
page, dwell, y = build_sequences(log, label)
n_train = int(0.8 * len(y))

net = Converter()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(6):
    order = torch.randperm(n_train)
    total = 0.0
    for idx in order.split(32):
        opt.zero_grad()
        loss = loss_fn(net(page[idx], dwell[idx]), y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch}  loss {total / n_train:.4f}")

with torch.no_grad():
    acc = ((net(page[n_train:], dwell[n_train:]) > 0) == (y[n_train:] > 0.5)).float().mean()
print(f"test accuracy {acc:.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 5.89 s (5.9, 5.88), cured 3.14 s (3.07, 3.21); share gained (faulty - cured) / faulty = 47%. Peak RSS 358 MB / 357 MB. Printed results identical.'
