NAME = "Trains a win-probability model for display-ad auctions on a table of bid requests and picks bids from it."
FAULT = "The data set looks up each sample with pandas .iloc and converts it field by field, so building row objects in Python costs more than the training itself."
CURE = "Turn the columns into arrays or tensors once in __init__ and index those in __getitem__."
KIND = "time"
FAULT_LINES = ["        row = self.df.iloc[i]", "        num = torch.tensor([row[c] for c in NUM], dtype=torch.float32)", "        cat = torch.tensor([row[c] for c in CAT], dtype=torch.long)"]
FAULT_CALLS = ["__getitem__", "iloc", "fast_xs", "_ixs", "tensor", "fetch"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

NUM = ["log_bid", "hour_sin", "hour_cos", "floor", "ctr_hist", "pacing"]
CAT = ["site", "device", "segment", "slot"]
CARD = {"site": 400, "device": 6, "segment": 60, "slot": 12}


def simulate(n):
    df = pd.DataFrame({c: rng.integers(0, k, n) for c, k in CARD.items()})
    hour = rng.uniform(0, 24, n)
    df["hour_sin"] = np.sin(hour / 24 * 2 * np.pi)
    df["hour_cos"] = np.cos(hour / 24 * 2 * np.pi)
    df["floor"] = rng.gamma(2.0, 0.2, n)
    df["ctr_hist"] = rng.beta(2, 60, n)
    df["pacing"] = rng.uniform(0.2, 1.5, n)
    df["log_bid"] = rng.normal(0.0, 0.7, n)
    site_q = np.sin(df["site"].to_numpy() * 1.7)
    market = 0.5 * site_q + 0.3 * df["hour_sin"] + 0.6 * df["floor"] + rng.normal(0, 0.5, n)
    df["won"] = (df["log_bid"] > market).astype(int)
    return df


class Auctions(Dataset):
    def __init__(self, df):
        self.df = df.reset_index(drop=True)

    def __len__(self):
        return len(self.df)

    def __getitem__(self, i):
        row = self.df.iloc[i]
        num = torch.tensor([row[c] for c in NUM], dtype=torch.float32)
        cat = torch.tensor([row[c] for c in CAT], dtype=torch.long)
        return num, cat, torch.tensor(row["won"], dtype=torch.float32)


class WinNet(nn.Module):
    def __init__(self, dim=24, width=512):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(CARD[c], dim) for c in CAT)
        self.net = nn.Sequential(
            nn.Linear(dim * len(CAT) + len(NUM), width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, num, cat):
        e = [emb(cat[:, j]) for j, emb in enumerate(self.emb)]
        return self.net(torch.cat(e + [num], dim=1)).squeeze(1)


df = simulate(24000)
train_df, test_df = df.iloc[:20000], df.iloc[20000:]
loader = DataLoader(Auctions(train_df), batch_size=256, shuffle=True)

model = WinNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(4):
    seen, total = 0, 0.0
    for num, cat, won in loader:
        loss = loss_fn(model(num, cat), won)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(won)
        seen += len(won)
    print(f"epoch {epoch}: log loss {total / seen:.3f}")

model.eval()
with torch.no_grad():
    num = torch.tensor(test_df[NUM].to_numpy(), dtype=torch.float32)
    cat = torch.tensor(test_df[CAT].to_numpy())
    acc = ((model(num, cat) > 0).numpy() == test_df["won"].to_numpy()).mean()
    grid = torch.linspace(-1.5, 1.5, 13)
    surplus = []
    for g in grid:
        num[:, 0] = g
        surplus.append(torch.sigmoid(model(num, cat)) * (2.0 - g.exp()))
    best = grid[torch.stack(surplus).argmax(0)].exp()
print(f"test accuracy {acc:.2f}, mean best bid {best.mean().item():.1f}")
'''
CURED = FAULTY.replace('''        self.df = df.reset_index(drop=True)
''', '''        self.num = torch.tensor(df[NUM].to_numpy(), dtype=torch.float32)
        self.cat = torch.tensor(df[CAT].to_numpy(), dtype=torch.long)
        self.won = torch.tensor(df["won"].to_numpy(), dtype=torch.float32)
''').replace("return len(self.df)", "return len(self.won)").replace('''        row = self.df.iloc[i]
        num = torch.tensor([row[c] for c in NUM], dtype=torch.float32)
        cat = torch.tensor([row[c] for c in CAT], dtype=torch.long)
        return num, cat, torch.tensor(row["won"], dtype=torch.float32)
''', '''        return self.num[i], self.cat[i], self.won[i]
''')
