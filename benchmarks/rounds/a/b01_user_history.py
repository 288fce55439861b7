NAME = 'next-item recommender whose Dataset looks up user histories in a DataFrame'
FAULT = 'every __getitem__ scans the whole interaction DataFrame with a boolean mask to find one user'
CURE = 'group the histories by user once in __init__ and index the dict in __getitem__'
KIND = 'time'
FAULT_LINES = ['hist = self.df.loc[self.df["user_id"] == self.users[i], "item_id"].to_numpy()', 'for hist, target in loader:']
FAULT_CALLS = ['Series.__eq__', 'DataFrame.loc', 'DataFrame.__getitem__', '__getitem__', 'InteractionDataset.__getitem__']
FAULTY = '''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

rng = np.random.default_rng(7)
torch.manual_seed(7)
N_USERS, N_ITEMS, N_ROWS, MAX_HIST = 5000, 4000, 300_000, 30

log = pd.DataFrame({
    "user_id": rng.integers(0, N_USERS, N_ROWS),
    "item_id": (rng.zipf(1.3, N_ROWS) % N_ITEMS),
    "ts": rng.integers(0, 10**9, N_ROWS),
}).sort_values("ts", ignore_index=True)


class InteractionDataset(Dataset):
    def __init__(self, df):
        self.df = df
        self.users = df["user_id"].unique()

    def __len__(self):
        return len(self.users)

    def __getitem__(self, i):
        hist = self.df.loc[self.df["user_id"] == self.users[i], "item_id"].to_numpy()
        hist = hist[-(MAX_HIST + 1):]
        seq = np.full(MAX_HIST, N_ITEMS, dtype=np.int64)
        seq[: len(hist) - 1] = hist[:-1]
        return torch.from_numpy(seq), int(hist[-1])


class NextItem(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.bag = nn.EmbeddingBag(N_ITEMS + 1, dim, mode="mean", padding_idx=N_ITEMS)
        self.mlp = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, N_ITEMS))

    def forward(self, hist):
        return self.mlp(self.bag(hist))


loader = DataLoader(InteractionDataset(log), batch_size=128, shuffle=True)
model = NextItem()
opt = torch.optim.SGD(model.parameters(), lr=0.5)

for epoch in range(3):
    losses = []
    for hist, target in loader:
        loss = F.cross_entropy(model(hist), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}")
'''
CURED = '''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

rng = np.random.default_rng(7)
torch.manual_seed(7)
N_USERS, N_ITEMS, N_ROWS, MAX_HIST = 5000, 4000, 300_000, 30

log = pd.DataFrame({
    "user_id": rng.integers(0, N_USERS, N_ROWS),
    "item_id": (rng.zipf(1.3, N_ROWS) % N_ITEMS),
    "ts": rng.integers(0, 10**9, N_ROWS),
}).sort_values("ts", ignore_index=True)


class InteractionDataset(Dataset):
    def __init__(self, df):
        self.hist = {u: g.to_numpy() for u, g in df.groupby("user_id")["item_id"]}
        self.users = df["user_id"].unique()

    def __len__(self):
        return len(self.users)

    def __getitem__(self, i):
        hist = self.hist[self.users[i]]
        hist = hist[-(MAX_HIST + 1):]
        seq = np.full(MAX_HIST, N_ITEMS, dtype=np.int64)
        seq[: len(hist) - 1] = hist[:-1]
        return torch.from_numpy(seq), int(hist[-1])


class NextItem(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.bag = nn.EmbeddingBag(N_ITEMS + 1, dim, mode="mean", padding_idx=N_ITEMS)
        self.mlp = nn.Sequential(nn.Linear(dim, 256), nn.ReLU(), nn.Linear(256, N_ITEMS))

    def forward(self, hist):
        return self.mlp(self.bag(hist))


loader = DataLoader(InteractionDataset(log), batch_size=128, shuffle=True)
model = NextItem()
opt = torch.optim.SGD(model.parameters(), lr=0.5)

for epoch in range(3):
    losses = []
    for hist, target in loader:
        loss = F.cross_entropy(model(hist), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}")
'''
