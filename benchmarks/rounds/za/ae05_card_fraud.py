NAME = "Trains a fraud classifier on card transactions with learned vectors for cards and merchants and reports the ROC AUC."
FAULT = "The large card table gets a dense gradient, so that every SGD step fills, and applies, a gradient for all cards though a batch touches a few hundred."
CURE = "Create the card table with sparse=True; plain SGD then updates only the rows of the batch, with the same result."
KIND = "time"
FAULT_LINES = [
    "self.card = nn.Embedding(n_cards, 16)",
    "opt = torch.optim.SGD(model.parameters(), lr=0.3)",
    "loss.backward()",
    "opt.step()",
]
FAULT_CALLS = ["embedding_dense_backward", "EmbeddingBackward0", "SGD.step", "_foreach_add_", "add_", "zero_", "fill_"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from sklearn.metrics import roc_auc_score

SEED = 8
torch.set_num_threads(1)
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

n_cards, n_merchants, n_rows = 450_000, 3_000, 260_000


def make_transactions():
    risk_card = rng.normal(0, 0.8, n_cards)
    risk_shop = rng.normal(0, 1.2, n_merchants)
    df = pd.DataFrame({
        "card": rng.integers(0, n_cards, n_rows),
        "merchant": np.minimum(rng.zipf(1.4, n_rows) - 1, n_merchants - 1),
        "amount": rng.lognormal(3.2, 1.1, n_rows),
        "hour": rng.integers(0, 24, n_rows),
        "abroad": rng.random(n_rows) < 0.08,
        "minutes_since_last": rng.exponential(600, n_rows),
    })
    score = (risk_card[df.card] + risk_shop[df.merchant] + 0.5 * np.log(df.amount)
             + 1.3 * df.abroad - 0.3 * np.log1p(df.minutes_since_last) + 0.6 * (df.hour < 5))
    cut = np.quantile(score, 0.93)
    df["fraud"] = (score + rng.logistic(0, 0.5, n_rows) > cut).astype(np.float32)
    return df


df = make_transactions()
num = pd.DataFrame({
    "log_amount": np.log(df.amount),
    "log_gap": np.log1p(df.minutes_since_last),
    "night": (df.hour < 5).astype(float),
    "abroad": df.abroad.astype(float),
    "hour_sin": np.sin(2 * np.pi * df.hour / 24),
    "hour_cos": np.cos(2 * np.pi * df.hour / 24),
})
num = (num - num.mean()) / num.std()

numeric = torch.tensor(num.values, dtype=torch.float32)
cards = torch.tensor(df.card.values)
shops = torch.tensor(df.merchant.values)
label = torch.tensor(df.fraud.values)
n_train = int(0.9 * n_rows)


class FraudNet(nn.Module):
    def __init__(self, n_cards, n_merchants, n_numeric):
        super().__init__()
        self.card = nn.Embedding(n_cards, 16)
        self.shop = nn.Embedding(n_merchants, 16)
        nn.init.normal_(self.card.weight, std=0.1)
        nn.init.normal_(self.shop.weight, std=0.1)
        self.mlp = nn.Sequential(
            nn.Linear(32 + n_numeric, 112), nn.ReLU(),
            nn.Linear(112, 56), nn.ReLU(),
            nn.Linear(56, 1))

    def forward(self, card, shop, x):
        z = torch.cat([self.card(card), self.shop(shop), x], dim=1)
        return self.mlp(z).squeeze(1)


model = FraudNet(n_cards, n_merchants, numeric.shape[1])
opt = torch.optim.SGD(model.parameters(), lr=0.3)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))
batch = 512

for epoch in range(2):
    model.train()
    order = torch.randperm(n_train)
    seen = 0.0
    for i in range(0, n_train, batch):
        rows = order[i:i + batch]
        opt.zero_grad()
        loss = criterion(model(cards[rows], shops[rows], numeric[rows]), label[rows])
        loss.backward()
        opt.step()
        seen += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        held = model(cards[n_train:], shops[n_train:], numeric[n_train:])
    auc = roc_auc_score(label[n_train:].numpy(), held.numpy())
    print(f"epoch {epoch + 1}  loss {seen / n_train:.3f}  auc {auc:.3f}")
'''
CURED = FAULTY.replace("nn.Embedding(n_cards, 16)", "nn.Embedding(n_cards, 16, sparse=True)")
