NAME = 'Turns a log of purchases into one padded sequence per customer and trains a GRU that predicts churn.'
FAULT = 'For each customer the whole log is filtered with a boolean mask instead of grouping it once.'
CURE = 'Iterate over log.groupby("customer").'
KIND = 'time'
FAULT_LINES = [
    'rows = log[log["customer"] == customer]',
    'for customer in customers:',
]
FAULT_CALLS = ['==', '__getitem__', '__eq__', 'build_sequences']

FAULTY = r'''import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

N_CUSTOMERS, N_CATEGORIES = 1200, 30


def simulate_log():
    active = rng.gamma(2.0, 20.0, N_CUSTOMERS).astype(int) + 5
    owner = np.repeat(np.arange(N_CUSTOMERS), active)
    decay = rng.uniform(-0.04, 0.04, N_CUSTOMERS)
    log = pd.DataFrame({
        "customer": [f"C{k:05d}" for k in owner],
        "day": rng.integers(0, 365, len(owner)),
        "category": rng.integers(0, N_CATEGORIES, len(owner)),
        "amount": rng.lognormal(2.5, 0.6, len(owner)),
    })
    log["amount"] *= np.exp(decay[owner] * log["day"] / 10)
    churned = (decay + 0.01 * rng.standard_normal(N_CUSTOMERS) < 0).astype(np.float32)
    return log.sample(frac=1.0, random_state=1).sort_values("day", kind="stable"), churned


log, churned = simulate_log()
log["log_amount"] = np.log1p(log["amount"]) - 2.5
log["gap"] = log.groupby("customer")["day"].diff().fillna(0) / 30.0
print(len(log), "purchases of", N_CUSTOMERS, "customers")


def build_sequences(log):
    sequences = []
    customers = np.sort(log["customer"].unique())
    for customer in customers:
        rows = log[log["customer"] == customer]
        categories = torch.tensor(rows["category"].to_numpy())
        numbers = torch.tensor(rows[["log_amount", "gap"]].to_numpy(np.float32))
        sequences.append((categories[-60:], numbers[-60:]))
    return sequences


class ChurnGRU(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.category = nn.Embedding(N_CATEGORIES, 14)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, categories, numbers, lengths):
        x = torch.cat([self.category(categories), numbers], dim=-1)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, last = self.gru(packed)
        return self.out(last[-1]).squeeze(1)


sequences = build_sequences(log)
target = torch.from_numpy(churned)


def collate(ids):
    picked = [sequences[i] for i in ids.tolist()]
    lengths = torch.tensor([len(c) for c, _ in picked])
    categories = pad_sequence([c for c, _ in picked], batch_first=True)
    numbers = pad_sequence([n for _, n in picked], batch_first=True)
    return categories, numbers, lengths


order = torch.randperm(N_CUSTOMERS)
train_ids, test_ids = order[:1000], order[1000:]
model = ChurnGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    total = 0.0
    for ids in train_ids[torch.randperm(len(train_ids))].split(64):
        loss = F.binary_cross_entropy_with_logits(model(*collate(ids)), target[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(ids)
    print(f"epoch {epoch} loss {total / len(train_ids):.3f}")
with torch.no_grad():
    hits = ((model(*collate(test_ids)) > 0).float() == target[test_ids]).float().mean().item()
print(f"test accuracy {hits:.2f}")
'''

CURED = r'''import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

N_CUSTOMERS, N_CATEGORIES = 1200, 30


def simulate_log():
    active = rng.gamma(2.0, 20.0, N_CUSTOMERS).astype(int) + 5
    owner = np.repeat(np.arange(N_CUSTOMERS), active)
    decay = rng.uniform(-0.04, 0.04, N_CUSTOMERS)
    log = pd.DataFrame({
        "customer": [f"C{k:05d}" for k in owner],
        "day": rng.integers(0, 365, len(owner)),
        "category": rng.integers(0, N_CATEGORIES, len(owner)),
        "amount": rng.lognormal(2.5, 0.6, len(owner)),
    })
    log["amount"] *= np.exp(decay[owner] * log["day"] / 10)
    churned = (decay + 0.01 * rng.standard_normal(N_CUSTOMERS) < 0).astype(np.float32)
    return log.sample(frac=1.0, random_state=1).sort_values("day", kind="stable"), churned


log, churned = simulate_log()
log["log_amount"] = np.log1p(log["amount"]) - 2.5
log["gap"] = log.groupby("customer")["day"].diff().fillna(0) / 30.0
print(len(log), "purchases of", N_CUSTOMERS, "customers")


def build_sequences(log):
    sequences = []
    for _, rows in log.groupby("customer"):
        categories = torch.tensor(rows["category"].to_numpy())
        numbers = torch.tensor(rows[["log_amount", "gap"]].to_numpy(np.float32))
        sequences.append((categories[-60:], numbers[-60:]))
    return sequences


class ChurnGRU(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.category = nn.Embedding(N_CATEGORIES, 14)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, categories, numbers, lengths):
        x = torch.cat([self.category(categories), numbers], dim=-1)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, last = self.gru(packed)
        return self.out(last[-1]).squeeze(1)


sequences = build_sequences(log)
target = torch.from_numpy(churned)


def collate(ids):
    picked = [sequences[i] for i in ids.tolist()]
    lengths = torch.tensor([len(c) for c, _ in picked])
    categories = pad_sequence([c for c, _ in picked], batch_first=True)
    numbers = pad_sequence([n for _, n in picked], batch_first=True)
    return categories, numbers, lengths


order = torch.randperm(N_CUSTOMERS)
train_ids, test_ids = order[:1000], order[1000:]
model = ChurnGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    total = 0.0
    for ids in train_ids[torch.randperm(len(train_ids))].split(64):
        loss = F.binary_cross_entropy_with_logits(model(*collate(ids)), target[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(ids)
    print(f"epoch {epoch} loss {total / len(train_ids):.3f}")
with torch.no_grad():
    hits = ((model(*collate(test_ids)) > 0).float() == target[test_ids]).float().mean().item()
print(f"test accuracy {hits:.2f}")
'''
