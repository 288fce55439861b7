NAME = 'Trains a residual network with category embeddings on a made-up churn table.'
FAULT = 'The Dataset fetches every row with DataFrame.iloc, selects columns from an object Series and converts them to numpy and then to tensors, row by row and every epoch.'
CURE = 'Convert the columns to tensors once in __init__ and index these in __getitem__.'
KIND = 'time'
FAULT_LINES = ['row = self.frame.iloc[i]', 'num = torch.tensor(row[NUM].values.astype(np.float32))', 'cat = torch.tensor(row[CAT].values.astype(np.int64))', 'for num, cat, y in train_loader:']
FAULT_CALLS = ['__getitem__', 'iloc', 'Series.__getitem__', 'astype', 'torch.tensor']
FAULTY = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

N = 6000
df = pd.DataFrame({
    "age": rng.integers(18, 80, N),
    "income": rng.lognormal(10, 0.6, N),
    "tenure": rng.exponential(4, N),
    "balance": rng.normal(0, 1500, N),
    "visits": rng.poisson(6, N),
    "score": rng.uniform(300, 850, N),
    "region": rng.choice(["north", "south", "east", "west"], N),
    "plan": rng.choice(["free", "basic", "plus", "pro", "team"], N),
    "device": rng.choice(["ios", "android", "web"], N),
})
logit = (0.03 * (df["age"] - 45) - 0.4 * np.log1p(df["tenure"]) + 0.8 * (df["plan"] == "free")
         - 0.004 * (df["score"] - 575) + 0.5 * (df["region"] == "west") * (df["device"] == "web"))
df["churn"] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype(int)

NUM = ["age", "income", "tenure", "balance", "visits", "score"]
CAT = ["region", "plan", "device"]
df["income"] = np.log(df["income"])
order = rng.permutation(N)
train_df, valid_df = df.iloc[order[:5000]].copy(), df.iloc[order[5000:]].copy()

mean, std = train_df[NUM].mean(), train_df[NUM].std()
sizes = {}
for part in (train_df, valid_df):
    part[NUM] = (part[NUM] - mean) / std
    for c in CAT:
        levels = sorted(df[c].unique())
        sizes[c] = len(levels)
        part[c] = part[c].map({v: i for i, v in enumerate(levels)})


class ChurnDataset(Dataset):
    def __init__(self, frame):
        self.frame = frame.reset_index(drop=True)

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, i):
        row = self.frame.iloc[i]
        num = torch.tensor(row[NUM].values.astype(np.float32))
        cat = torch.tensor(row[CAT].values.astype(np.int64))
        return num, cat, torch.tensor(float(row["churn"]))


class TabNet(nn.Module):
    def __init__(self, n_num, cards, width=512, depth=3):
        super().__init__()
        self.emb = nn.ModuleList([nn.Embedding(c, 8) for c in cards])
        self.inp = nn.Linear(n_num + 8 * len(cards), width)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1),
                          nn.Linear(width, width)) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, num, cat):
        x = torch.cat([num] + [e(cat[:, j]) for j, e in enumerate(self.emb)], dim=1)
        x = self.inp(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(torch.relu(x)).squeeze(1)


def auc(y, p):
    ranks = pd.Series(p).rank().to_numpy()
    pos = y == 1
    return (ranks[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


train_loader = DataLoader(ChurnDataset(train_df), batch_size=128, shuffle=True)
valid_loader = DataLoader(ChurnDataset(valid_df), batch_size=250)
model = TabNet(len(NUM), [sizes[c] for c in CAT])
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=1e-2)

for epoch in range(3):
    model.train()
    running = 0.0
    for num, cat, y in train_loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(num, cat), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        preds = [(y, model(num, cat)) for num, cat, y in valid_loader]
    y_all = torch.cat([p[0] for p in preds]).numpy()
    p_all = torch.cat([p[1] for p in preds]).numpy()
    print(f"epoch {epoch}: train logloss {running / len(train_df):.4f}  valid AUC {auc(y_all, p_all):.4f}")
"""
CURED = r"""import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

N = 6000
df = pd.DataFrame({
    "age": rng.integers(18, 80, N),
    "income": rng.lognormal(10, 0.6, N),
    "tenure": rng.exponential(4, N),
    "balance": rng.normal(0, 1500, N),
    "visits": rng.poisson(6, N),
    "score": rng.uniform(300, 850, N),
    "region": rng.choice(["north", "south", "east", "west"], N),
    "plan": rng.choice(["free", "basic", "plus", "pro", "team"], N),
    "device": rng.choice(["ios", "android", "web"], N),
})
logit = (0.03 * (df["age"] - 45) - 0.4 * np.log1p(df["tenure"]) + 0.8 * (df["plan"] == "free")
         - 0.004 * (df["score"] - 575) + 0.5 * (df["region"] == "west") * (df["device"] == "web"))
df["churn"] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype(int)

NUM = ["age", "income", "tenure", "balance", "visits", "score"]
CAT = ["region", "plan", "device"]
df["income"] = np.log(df["income"])
order = rng.permutation(N)
train_df, valid_df = df.iloc[order[:5000]].copy(), df.iloc[order[5000:]].copy()

mean, std = train_df[NUM].mean(), train_df[NUM].std()
sizes = {}
for part in (train_df, valid_df):
    part[NUM] = (part[NUM] - mean) / std
    for c in CAT:
        levels = sorted(df[c].unique())
        sizes[c] = len(levels)
        part[c] = part[c].map({v: i for i, v in enumerate(levels)})


class ChurnDataset(Dataset):
    def __init__(self, frame):
        self.num = torch.tensor(frame[NUM].to_numpy(dtype=np.float32))
        self.cat = torch.tensor(frame[CAT].to_numpy(dtype=np.int64))
        self.y = torch.tensor(frame["churn"].to_numpy(dtype=np.float32))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.num[i], self.cat[i], self.y[i]


class TabNet(nn.Module):
    def __init__(self, n_num, cards, width=512, depth=3):
        super().__init__()
        self.emb = nn.ModuleList([nn.Embedding(c, 8) for c in cards])
        self.inp = nn.Linear(n_num + 8 * len(cards), width)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1),
                          nn.Linear(width, width)) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, num, cat):
        x = torch.cat([num] + [e(cat[:, j]) for j, e in enumerate(self.emb)], dim=1)
        x = self.inp(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(torch.relu(x)).squeeze(1)


def auc(y, p):
    ranks = pd.Series(p).rank().to_numpy()
    pos = y == 1
    return (ranks[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


train_loader = DataLoader(ChurnDataset(train_df), batch_size=128, shuffle=True)
valid_loader = DataLoader(ChurnDataset(valid_df), batch_size=250)
model = TabNet(len(NUM), [sizes[c] for c in CAT])
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=1e-2)

for epoch in range(3):
    model.train()
    running = 0.0
    for num, cat, y in train_loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(num, cat), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        preds = [(y, model(num, cat)) for num, cat, y in valid_loader]
    y_all = torch.cat([p[0] for p in preds]).numpy()
    p_all = torch.cat([p[1] for p in preds]).numpy()
    print(f"epoch {epoch}: train logloss {running / len(train_df):.4f}  valid AUC {auc(y_all, p_all):.4f}")
"""
