NAME = 'g06_fraud_progress'
FAULT = 'After every minibatch the AUC over all predictions collected so far in the epoch is computed again, although only the last value is used.'
CURE = 'Compute the AUC once at the end of the epoch.'
KIND = 'time'
FAULT_LINES = [
    '        auc = roc_auc_score(np.concatenate(seen_y), np.concatenate(seen_p))',
]
FAULT_CALLS = ['sklearn.metrics.roc_auc_score', 'numpy.argsort', 'numpy.concatenate', 'sklearn.metrics.roc_curve']

FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

# card transactions, 3 % fraud
N = 48_000
tx = pd.DataFrame({
    "amount": rng.lognormal(3, 1, N),
    "hour": rng.integers(0, 24, N),
    "dist_home": rng.exponential(12, N),
    "n_last_24h": rng.poisson(3, N),
    "country": rng.integers(0, 40, N),
    "mcc": rng.integers(0, 120, N),
})
logit = -5.4 + 0.5 * np.log(tx.amount) + 0.03 * tx.dist_home + 0.5 * (tx.hour < 5) + 0.01 * (tx.mcc % 17)
tx["fraud"] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype(np.float32)

num = np.log1p(tx[["amount", "hour", "dist_home", "n_last_24h"]].to_numpy(np.float32))
num = torch.tensor((num - num.mean(0)) / num.std(0))
cat = torch.tensor(tx[["country", "mcc"]].to_numpy(np.int64))
lab = torch.tensor(tx["fraud"].to_numpy(np.float32))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.country = nn.Embedding(40, 8)
        self.mcc = nn.Embedding(120, 12)
        self.mlp = nn.Sequential(
            nn.Linear(24, 192), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 1))

    def forward(self, n, c):
        return self.mlp(torch.cat([n, self.country(c[:, 0]), self.mcc(c[:, 1])], 1)).squeeze(1)


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(8.0))
history = []
for epoch in range(5):
    seen_y, seen_p, losses = [], [], []
    for b in torch.randperm(N).split(256):
        z = net(num[b], cat[b])
        loss = loss_fn(z, lab[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        seen_y.append(lab[b].numpy())
        seen_p.append(torch.sigmoid(z).detach().numpy())
        auc = roc_auc_score(np.concatenate(seen_y), np.concatenate(seen_p))
    history.append({"epoch": epoch, "loss": np.mean(losses), "train_auc": auc})
print(pd.DataFrame(history).round(4).to_string(index=False))
'''

CURED = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(42)
rng = np.random.default_rng(42)

# card transactions, 3 % fraud
N = 48_000
tx = pd.DataFrame({
    "amount": rng.lognormal(3, 1, N),
    "hour": rng.integers(0, 24, N),
    "dist_home": rng.exponential(12, N),
    "n_last_24h": rng.poisson(3, N),
    "country": rng.integers(0, 40, N),
    "mcc": rng.integers(0, 120, N),
})
logit = -5.4 + 0.5 * np.log(tx.amount) + 0.03 * tx.dist_home + 0.5 * (tx.hour < 5) + 0.01 * (tx.mcc % 17)
tx["fraud"] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype(np.float32)

num = np.log1p(tx[["amount", "hour", "dist_home", "n_last_24h"]].to_numpy(np.float32))
num = torch.tensor((num - num.mean(0)) / num.std(0))
cat = torch.tensor(tx[["country", "mcc"]].to_numpy(np.int64))
lab = torch.tensor(tx["fraud"].to_numpy(np.float32))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.country = nn.Embedding(40, 8)
        self.mcc = nn.Embedding(120, 12)
        self.mlp = nn.Sequential(
            nn.Linear(24, 192), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 1))

    def forward(self, n, c):
        return self.mlp(torch.cat([n, self.country(c[:, 0]), self.mcc(c[:, 1])], 1)).squeeze(1)


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(8.0))
history = []
for epoch in range(5):
    seen_y, seen_p, losses = [], [], []
    for b in torch.randperm(N).split(256):
        z = net(num[b], cat[b])
        loss = loss_fn(z, lab[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        seen_y.append(lab[b].numpy())
        seen_p.append(torch.sigmoid(z).detach().numpy())
    auc = roc_auc_score(np.concatenate(seen_y), np.concatenate(seen_p))
    history.append({"epoch": epoch, "loss": np.mean(losses), "train_auc": auc})
print(pd.DataFrame(history).round(4).to_string(index=False))
'''
