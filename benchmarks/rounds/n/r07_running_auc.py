NAME = 'Trains a click-through model with embeddings on a synthetic ad log and tracks AUC and average precision.'
FAULT = 'The metric tracker concatenates the whole history and recomputes ROC AUC and average precision from scratch after every batch, although only the last value of each epoch is printed.'
CURE = 'Only store scores and labels per batch and compute the metrics once at the end of the epoch.'
KIND = 'time'
FAULT_LINES = ['self.auc = roc_auc_score(y, s)', 'self.ap = average_precision_score(y, s)', 'tracker.update(target, torch.sigmoid(logit))', 'y, s = np.concatenate(self.targets), np.concatenate(self.scores)']
FAULT_CALLS = ['update', 'roc_auc_score', 'average_precision_score', 'concatenate', 'argsort']
FAULTY = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import roc_auc_score, average_precision_score

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

# ------------------------------------------------------------------ data
N = 30_000
log = pd.DataFrame({
    'user': rng.integers(0, 4000, N),
    'ad': rng.integers(0, 600, N),
    'site': rng.integers(0, 80, N),
    'hour': rng.integers(0, 24, N),
    'price': rng.gamma(2.0, 1.5, N),
})
user_bias, ad_bias = rng.normal(0, .8, 4000), rng.normal(0, .8, 600)
logit = user_bias[log.user] + ad_bias[log.ad] + .4 * np.sin(log.hour / 24 * 2 * np.pi) - .15 * log.price - 1
log['click'] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype('float32')
print(log.describe().loc[['mean', 'std']].round(3))

cat = torch.tensor(log[['user', 'ad', 'site', 'hour']].values)
num = torch.tensor(((log[['price']] - log.price.mean()) / log.price.std()).values, dtype=torch.float32)
target = torch.tensor(log.click.values)
cut = int(.85 * N)
train = DataLoader(TensorDataset(cat[:cut], num[:cut], target[:cut]), batch_size=128, shuffle=True)
valid = DataLoader(TensorDataset(cat[cut:], num[cut:], target[cut:]), batch_size=1024)


class CTR(nn.Module):
    def __init__(self, sizes=(4000, 600, 80, 24), d=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, d) for n in sizes)
        self.mlp = nn.Sequential(nn.Linear(d * 4 + 1, 128), nn.ReLU(), nn.Dropout(.2),
                                 nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, cat, num):
        e = [t(cat[:, i]) for i, t in enumerate(self.tables)]
        return self.mlp(torch.cat(e + [num], 1)).squeeze(1)


class Tracker:
    # keeps the running ranking metrics of an epoch
    def __init__(self):
        self.targets, self.scores = [], []
        self.auc = self.ap = float('nan')

    def update(self, target, score):
        self.targets.append(target.detach().numpy())
        self.scores.append(score.detach().numpy())
        y, s = np.concatenate(self.targets), np.concatenate(self.scores)
        self.auc = roc_auc_score(y, s)
        self.ap = average_precision_score(y, s)

    def summary(self):
        return f'auc {self.auc:.4f} ap {self.ap:.4f}'


net = CTR()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    net.train()
    tracker = Tracker()
    for cat_b, num_b, target in train:
        logit = net(cat_b, num_b)
        loss = bce(logit, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.update(target, torch.sigmoid(logit))
    net.eval()
    with torch.no_grad():
        v = torch.cat([net(c, n) for c, n, _ in valid])
    print(f'epoch {epoch} train {tracker.summary()} | valid auc {roc_auc_score(log.click.values[cut:], v):.4f}')
"""
CURED = r"""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import roc_auc_score, average_precision_score

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

# ------------------------------------------------------------------ data
N = 30_000
log = pd.DataFrame({
    'user': rng.integers(0, 4000, N),
    'ad': rng.integers(0, 600, N),
    'site': rng.integers(0, 80, N),
    'hour': rng.integers(0, 24, N),
    'price': rng.gamma(2.0, 1.5, N),
})
user_bias, ad_bias = rng.normal(0, .8, 4000), rng.normal(0, .8, 600)
logit = user_bias[log.user] + ad_bias[log.ad] + .4 * np.sin(log.hour / 24 * 2 * np.pi) - .15 * log.price - 1
log['click'] = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype('float32')
print(log.describe().loc[['mean', 'std']].round(3))

cat = torch.tensor(log[['user', 'ad', 'site', 'hour']].values)
num = torch.tensor(((log[['price']] - log.price.mean()) / log.price.std()).values, dtype=torch.float32)
target = torch.tensor(log.click.values)
cut = int(.85 * N)
train = DataLoader(TensorDataset(cat[:cut], num[:cut], target[:cut]), batch_size=128, shuffle=True)
valid = DataLoader(TensorDataset(cat[cut:], num[cut:], target[cut:]), batch_size=1024)


class CTR(nn.Module):
    def __init__(self, sizes=(4000, 600, 80, 24), d=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, d) for n in sizes)
        self.mlp = nn.Sequential(nn.Linear(d * 4 + 1, 128), nn.ReLU(), nn.Dropout(.2),
                                 nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, cat, num):
        e = [t(cat[:, i]) for i, t in enumerate(self.tables)]
        return self.mlp(torch.cat(e + [num], 1)).squeeze(1)


class Tracker:
    # keeps the running ranking metrics of an epoch
    def __init__(self):
        self.targets, self.scores = [], []
        self.auc = self.ap = float('nan')

    def update(self, target, score):
        self.targets.append(target.detach().numpy())
        self.scores.append(score.detach().numpy())

    def summary(self):
        y, s = np.concatenate(self.targets), np.concatenate(self.scores)
        self.auc = roc_auc_score(y, s)
        self.ap = average_precision_score(y, s)
        return f'auc {self.auc:.4f} ap {self.ap:.4f}'


net = CTR()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    net.train()
    tracker = Tracker()
    for cat_b, num_b, target in train:
        logit = net(cat_b, num_b)
        loss = bce(logit, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.update(target, torch.sigmoid(logit))
    net.eval()
    with torch.no_grad():
        v = torch.cat([net(c, n) for c, n, _ in valid])
    print(f'epoch {epoch} train {tracker.summary()} | valid auc {roc_auc_score(log.click.values[cut:], v):.4f}')
"""
