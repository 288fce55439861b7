NAME = "Trains an MLP with category embeddings on unbalanced card transactions and follows the ROC AUC."
FAULT = "The AUC over everything seen so far in the epoch is recomputed after each batch, though only the value at the end of the epoch is ever shown."
CURE = "Compute the AUC once, after the loop over the batches."
KIND = "time"
FAULT_LINES = ['stats["auc"] = roc_auc_score(np.concatenate(seen_y), np.concatenate(seen_p))']
FAULT_CALLS = ["roc_auc_score", "roc_curve", "_binary_roc_auc_score", "_average_binary_score", "argsort", "concatenate"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

# ---- simulated transactions -------------------------------------------------
n = 50_000
df = pd.DataFrame({
    "amount": rng.lognormal(3, 1.1, n),
    "hour": rng.integers(0, 24, n),
    "merchant": rng.integers(0, 300, n),
    "country": rng.integers(0, 40, n),
    "age_days": rng.exponential(400, n),
    "tx_last_hour": rng.poisson(0.6, n),
})
risky = np.zeros(300)
risky[rng.choice(300, 30, replace=False)] = 1.5
score = (0.8 * (np.log(df.amount) - 3) + risky[df.merchant] + 0.9 * (df.hour < 5)
         + 0.7 * df.tx_last_hour - 0.002 * df.age_days - 5.0)
df["fraud"] = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)

num_cols = ["amount", "age_days", "tx_last_hour", "hour"]
num = df[num_cols].copy()
num["amount"] = np.log1p(num.amount)
num = StandardScaler().fit_transform(num)
num = torch.tensor(num, dtype=torch.float32)
cat = torch.tensor(df[["merchant", "country"]].to_numpy())
y = torch.tensor(df.fraud.to_numpy(), dtype=torch.float32)
n_train = 40_000
print("fraud rate:", round(y.mean().item(), 4))


class FraudNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.merchant = nn.Embedding(300, 16)
        self.country = nn.Embedding(40, 6)
        self.mlp = nn.Sequential(
            nn.Linear(4 + 16 + 6, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, 1))

    def forward(self, num, cat):
        h = torch.cat([num, self.merchant(cat[:, 0]), self.country(cat[:, 1])], dim=1)
        return self.mlp(h).squeeze(1)


net = FraudNet()
pos_weight = (1 - y[:n_train].mean()) / y[:n_train].mean()
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)


def run_epoch(batch_size=256):
    net.train()
    stats = {"loss": 0.0, "auc": 0.5}
    seen_y, seen_p = [], []
    for idx in torch.randperm(n_train).split(batch_size):
        logits = net(num[idx], cat[idx])
        loss = criterion(logits, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen_y.append(y[idx].numpy())
        seen_p.append(logits.detach().sigmoid().numpy())
        stats["loss"] += loss.item() * len(idx) / n_train
        if sum(map(np.sum, seen_y[:3])) > 0:
            stats["auc"] = roc_auc_score(np.concatenate(seen_y), np.concatenate(seen_p))
    return stats


for epoch in range(4):
    stats = run_epoch()
    net.eval()
    with torch.no_grad():
        p = net(num[n_train:], cat[n_train:]).sigmoid().numpy()
    test_auc = roc_auc_score(y[n_train:].numpy(), p)
    print(f"epoch {epoch}: loss {stats['loss']:.4f}  train auc {stats['auc']:.4f}  test auc {test_auc:.4f}")
'''
CURED = FAULTY.replace('''        if sum(map(np.sum, seen_y[:3])) > 0:
            stats["auc"] =''', '''    stats["auc"] =''')
