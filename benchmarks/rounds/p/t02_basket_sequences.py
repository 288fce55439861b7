NAME = 'Builds purchase sequences per customer from a transactions table and trains a GRU that predicts the next category.'
FAULT = 'The whole table is searched with a boolean mask of string ids once for every customer.'
CURE = 'Sort once and walk over groupby("customer", sort=False).'
KIND = 'time'
FAULT_LINES = [
    "for cust in tx['customer'].unique():",
    "rows = tx[tx['customer'] == cust].sort_values('when')",
]
FAULT_CALLS = ['build_sequences', '__eq__', 'eq', '__getitem__', 'comp_method', 'take']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
rng = np.random.default_rng(3)
torch.manual_seed(3)

N, CUSTOMERS, CATS = 82_000, 1_640, 40
cust_no = rng.integers(0, CUSTOMERS, N)
tx = pd.DataFrame({
    'customer': [f'CU-{c:06d}' for c in cust_no],
    'when': pd.Timestamp('2024-01-01') + pd.to_timedelta(rng.choice(40_000_000, N, replace=False), unit='s'),
    'category': (cust_no * 7 + rng.integers(0, 6, N)) % CATS,
    'amount': rng.gamma(2.0, 14.0, N).round(2),
})


def build_sequences(tx, min_len=8, max_len=40):
    cats, spend = [], []
    for cust in tx['customer'].unique():
        rows = tx[tx['customer'] == cust].sort_values('when')
        if len(rows) < min_len:
            continue
        cats.append(torch.from_numpy(rows['category'].to_numpy()[-max_len:].copy()))
        spend.append(torch.from_numpy(np.log1p(rows['amount'].to_numpy()[-max_len:])).float())
    return cats, spend


cats, spend = build_sequences(tx)
print('customers kept:', len(cats), ' median length:', int(np.median([len(c) for c in cats])))


class NextBasket(nn.Module):
    def __init__(self, n_cat, d=32, h=48):
        super().__init__()
        self.emb = nn.Embedding(n_cat + 1, d, padding_idx=n_cat)
        self.gru = nn.GRU(d + 1, h, batch_first=True)
        self.out = nn.Linear(h, n_cat)

    def forward(self, c, s):
        z, _ = self.gru(torch.cat([self.emb(c), s.unsqueeze(-1)], -1))
        return self.out(z)


model = NextBasket(CATS)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss(ignore_index=CATS)

for epoch in range(4):
    perm = torch.randperm(len(cats))
    tot = 0.0
    for part in perm.split(64):
        c = pad_sequence([cats[i] for i in part], batch_first=True, padding_value=CATS)
        s = pad_sequence([spend[i] for i in part], batch_first=True)
        logits = model(c[:, :-1], s[:, :-1])
        loss = crit(logits.reshape(-1, CATS), c[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(part)
    print(f'epoch {epoch + 1}  loss {tot / len(cats):.4f}')
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
rng = np.random.default_rng(3)
torch.manual_seed(3)

N, CUSTOMERS, CATS = 82_000, 1_640, 40
cust_no = rng.integers(0, CUSTOMERS, N)
tx = pd.DataFrame({
    'customer': [f'CU-{c:06d}' for c in cust_no],
    'when': pd.Timestamp('2024-01-01') + pd.to_timedelta(rng.choice(40_000_000, N, replace=False), unit='s'),
    'category': (cust_no * 7 + rng.integers(0, 6, N)) % CATS,
    'amount': rng.gamma(2.0, 14.0, N).round(2),
})


def build_sequences(tx, min_len=8, max_len=40):
    cats, spend = [], []
    for cust, rows in tx.groupby('customer', sort=False):
        rows = rows.sort_values('when')
        if len(rows) < min_len:
            continue
        cats.append(torch.from_numpy(rows['category'].to_numpy()[-max_len:].copy()))
        spend.append(torch.from_numpy(np.log1p(rows['amount'].to_numpy()[-max_len:])).float())
    return cats, spend


cats, spend = build_sequences(tx)
print('customers kept:', len(cats), ' median length:', int(np.median([len(c) for c in cats])))


class NextBasket(nn.Module):
    def __init__(self, n_cat, d=32, h=48):
        super().__init__()
        self.emb = nn.Embedding(n_cat + 1, d, padding_idx=n_cat)
        self.gru = nn.GRU(d + 1, h, batch_first=True)
        self.out = nn.Linear(h, n_cat)

    def forward(self, c, s):
        z, _ = self.gru(torch.cat([self.emb(c), s.unsqueeze(-1)], -1))
        return self.out(z)


model = NextBasket(CATS)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss(ignore_index=CATS)

for epoch in range(4):
    perm = torch.randperm(len(cats))
    tot = 0.0
    for part in perm.split(64):
        c = pad_sequence([cats[i] for i in part], batch_first=True, padding_value=CATS)
        s = pad_sequence([spend[i] for i in part], batch_first=True)
        logits = model(c[:, :-1], s[:, :-1])
        loss = crit(logits.reshape(-1, CATS), c[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(part)
    print(f'epoch {epoch + 1}  loss {tot / len(cats):.4f}')
"""
