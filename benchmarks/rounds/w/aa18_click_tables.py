NAME = "Fits a click model on tabular data with large categorical columns and embeddings, trained by plain SGD."
FAULT = "The big embedding tables get dense gradients, so every step fills a zero gradient and updates all rows although a batch touches only a few hundred of them."
CURE = "Make the embeddings sparse=True; plain SGD applies the sparse gradient with the same result."
KIND = "time"
FAULT_LINES = [
    "self.tables = nn.ModuleList([nn.Embedding(c, dim) for c in cards])",
    "optimizer = torch.optim.SGD(model.parameters(), lr=1.0)",
    "optimizer.step()",
    "loss.backward()",
]
FAULT_CALLS = ["embedding_dense_backward", "SGD.step", "add_", "embedding_backward", "EmbeddingBackward0", "zero_"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
np.random.seed(21)
torch.manual_seed(21)

# ---------------------------------------------------------------- data
n_rows = 60_000
cards = [300_000, 90_000, 300]
rng = np.random.default_rng(21)
df = pd.DataFrame({
    "user": (rng.pareto(1.1, n_rows) * 900).astype(np.int64) % cards[0],
    "item": (rng.pareto(1.0, n_rows) * 150).astype(np.int64) % cards[1],
    "shop": rng.integers(0, cards[2], n_rows),
    "price": rng.lognormal(2.5, 0.7, n_rows),
    "hour": rng.integers(0, 24, n_rows),
    "age_days": rng.exponential(40, n_rows),
})
u_eff = rng.normal(0, 0.9, cards[0])[df["user"]]
i_eff = rng.normal(0, 0.9, cards[1])[df["item"]]
s_eff = rng.normal(0, 0.5, cards[2])[df["shop"]]
logit = -0.6 + u_eff + i_eff + s_eff - 0.25 * np.log(df["price"]) + 0.4 * np.sin(df["hour"] / 24 * 2 * np.pi)
df["click"] = (rng.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(np.float32)

num = pd.DataFrame({
    "log_price": np.log(df["price"]),
    "sin_h": np.sin(df["hour"] / 24 * 2 * np.pi),
    "cos_h": np.cos(df["hour"] / 24 * 2 * np.pi),
    "log_age": np.log1p(df["age_days"]),
})
num = (num - num.mean()) / num.std()
x_num = torch.tensor(num.to_numpy(), dtype=torch.float32)
x_cat = torch.tensor(df[["user", "item", "shop"]].to_numpy())
y = torch.tensor(df["click"].to_numpy())
cut = 48_000
print(df[["price", "age_days", "click"]].mean().round(3).to_dict())


# ---------------------------------------------------------------- model
class ClickNet(nn.Module):
    def __init__(self, cards, dim=16, n_num=4, hidden=192):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(c, dim) for c in cards])
        for t in self.tables:
            nn.init.normal_(t.weight, std=0.05)
        self.mlp = nn.Sequential(
            nn.Linear(dim * len(cards) + n_num, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, cat, num):
        e = [t(cat[:, j]) for j, t in enumerate(self.tables)]
        return self.mlp(torch.cat(e + [num], dim=1)).squeeze(1)


model = ClickNet(cards)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
criterion = nn.BCEWithLogitsLoss()

# ---------------------------------------------------------------- training
for epoch in range(6):
    model.train()
    order = torch.randperm(cut)
    losses = []
    for idx in order.split(512):
        loss = criterion(model(x_cat[idx], x_num[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        p = model(x_cat[cut:], x_num[cut:])
    auc = roc_auc_score(y[cut:].numpy(), p.numpy())
    print(f"epoch {epoch}: logloss {np.mean(losses):.4f}  valid AUC {auc:.4f}")
'''
CURED = FAULTY.replace("nn.Embedding(c, dim) for c in cards", "nn.Embedding(c, dim, sparse=True) for c in cards")
