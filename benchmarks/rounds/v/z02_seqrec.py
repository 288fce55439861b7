NAME = "Trains a GRU next-item recommender on a pandas interaction log and reports hit rate and MRR."
FAULT = "Every __getitem__ scans the whole interaction log with a boolean mask to find one user's rows."
CURE = "Group the log by user once in __init__ and look the user's items up in a dict."
KIND = "time"
FAULT_LINES = ['rows = self.log[self.log["user"] == user]', 'items = rows["item"].to_numpy()', "def __getitem__(self, i):"]
FAULT_CALLS = ["__getitem__", "__eq__", "eq", "comp_method_OBJECT_ARRAY", "comparison_op", "_getitem_bool_array", "take", "_take_with_is_copy"]
_T = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

N_USERS, N_ITEMS, MAX_LEN = 6000, 2000, 20

n_rows = 420_000
users = rng.integers(0, N_USERS, n_rows)
taste = rng.integers(0, 40, N_USERS)
items = (taste[users] * 50 + rng.zipf(1.4, n_rows) % 50) % N_ITEMS + 1
log = pd.DataFrame({
    "user": users,
    "item": items,
    "ts": rng.integers(1_600_000_000, 1_650_000_000, n_rows),
})
log = log.sort_values("ts", kind="stable").reset_index(drop=True)
counts = log["user"].value_counts()
active = np.sort(counts[counts >= 5].index.to_numpy())
print(f"{len(log)} interactions, {len(active)} active users")


class UserSequences(Dataset):
    def __init__(self, log, users, split):
        self.users = users
        self.split = split
@@A@@

    def __len__(self):
        return len(self.users)

    def __getitem__(self, i):
        user = self.users[i]
@@B@@
        items = items[:-1] if self.split == "train" else items
        window = items[-(MAX_LEN + 1):]
        seq = np.zeros(MAX_LEN + 1, dtype=np.int64)
        seq[-len(window):] = window
        return torch.from_numpy(seq[:-1]), torch.from_numpy(seq[1:])


class NextItem(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(N_ITEMS + 1, dim, padding_idx=0)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.drop = nn.Dropout(0.1)

    def forward(self, seq):
        h, _ = self.gru(self.emb(seq))
        return self.drop(h)

    def score(self, h):
        return h @ self.emb.weight.T


train_dl = DataLoader(UserSequences(log, active, "train"), batch_size=128, shuffle=True)
test_dl = DataLoader(UserSequences(log, active, "test"), batch_size=256)
model = NextItem()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(2):
    model.train()
    total = 0.0
    for seq, target in train_dl:
        h = model(seq)
        negatives = torch.randint(1, N_ITEMS + 1, (200,))
        pos = (h * model.emb(target)).sum(-1, keepdim=True)
        neg = h @ model.emb(negatives).T
        logits = torch.cat([pos, neg], dim=-1)[target > 0]
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train_dl):.3f}")

model.eval()
ranks = []
with torch.no_grad():
    for seq, target in test_dl:
        scores = model.score(model(seq)[:, -1])
        truth = scores.gather(1, target[:, -1:])
        ranks.append((scores > truth).sum(1) + 1)
ranks = torch.cat(ranks).float()
print(f"HR@10 {(ranks <= 10).float().mean():.3f}  MRR {(1 / ranks).mean():.3f}")
'''
FAULTY = _T.replace("@@A@@", "        self.log = log").replace("@@B@@", '        rows = self.log[self.log["user"] == user]\n        items = rows["item"].to_numpy()')
CURED = _T.replace("@@A@@", '        self.items = {u: g.to_numpy() for u, g in log.groupby("user")["item"]}').replace("@@B@@", "        items = self.items[user]")
