NAME = 'Trains a churn classifier on a table with categorical embeddings and prints loss and AUC of each epoch.'
FAULT = 'The AUC of all rows seen so far is computed anew after each batch, although it is printed only once at the end of the epoch.'
CURE = 'Only collect in add() and compute the AUC when the line is printed.'
KIND = 'time'
FAULT_LINES = [
    'self.auc = roc_auc_score(t.numpy(), torch.cat(self.scores).numpy())',
    't = torch.cat(self.targets)',
    'stats.add(out, y[idx], loss)',
]
FAULT_CALLS = ['roc_auc_score', 'add', 'cat']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.manual_seed(12)
torch.set_num_threads(1)

# churn table: 12 numeric columns, 3 categorical ones
N = 40000
num = torch.randn(N, 12)
cat = torch.stack([torch.randint(0, c, (N,)) for c in (12, 7, 30)], 1)
effect = [torch.randn(c) * 0.6 for c in (12, 7, 30)]
logit = num[:, 0] - 0.7 * num[:, 1] * num[:, 2] + 0.4 * num[:, 3].abs() - 1.5
logit = logit + sum(e[cat[:, i]] for i, e in enumerate(effect))
y = (torch.rand(N) < torch.sigmoid(logit)).float()
n_train = 32000


class TabNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, 8) for c in (12, 7, 30))
        self.mlp = nn.Sequential(nn.Linear(12 + 24, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, xn, xc):
        e = [emb(xc[:, i]) for i, emb in enumerate(self.embs)]
        return self.mlp(torch.cat([xn] + e, 1)).squeeze(1)


class EpochStats:
    '''Collects what the progress line needs.'''
    def __init__(self):
        self.scores, self.targets = [], []
        self.loss, self.n, self.auc = 0.0, 0, float("nan")

    def add(self, out, target, loss):
        self.loss += loss.item() * len(target)
        self.n += len(target)
        self.scores.append(torch.sigmoid(out.detach()))
        self.targets.append(target)
        t = torch.cat(self.targets)
        if 0 < t.sum() < len(t):
            self.auc = roc_auc_score(t.numpy(), torch.cat(self.scores).numpy())

    def line(self):
        return f"loss {self.loss / self.n:.4f} auc {self.auc:.4f}"


net = TabNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    stats = EpochStats()
    net.train()
    for idx in torch.randperm(n_train).split(256):
        out = net(num[idx], cat[idx])
        loss = F.binary_cross_entropy_with_logits(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats.add(out, y[idx], loss)
    net.eval()
    with torch.no_grad():
        val = torch.sigmoid(net(num[n_train:], cat[n_train:]))
    print(f"epoch {epoch}  {stats.line()}  val auc {roc_auc_score(y[n_train:].numpy(), val.numpy()):.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.manual_seed(12)
torch.set_num_threads(1)

# churn table: 12 numeric columns, 3 categorical ones
N = 40000
num = torch.randn(N, 12)
cat = torch.stack([torch.randint(0, c, (N,)) for c in (12, 7, 30)], 1)
effect = [torch.randn(c) * 0.6 for c in (12, 7, 30)]
logit = num[:, 0] - 0.7 * num[:, 1] * num[:, 2] + 0.4 * num[:, 3].abs() - 1.5
logit = logit + sum(e[cat[:, i]] for i, e in enumerate(effect))
y = (torch.rand(N) < torch.sigmoid(logit)).float()
n_train = 32000


class TabNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, 8) for c in (12, 7, 30))
        self.mlp = nn.Sequential(nn.Linear(12 + 24, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, xn, xc):
        e = [emb(xc[:, i]) for i, emb in enumerate(self.embs)]
        return self.mlp(torch.cat([xn] + e, 1)).squeeze(1)


class EpochStats:
    '''Collects what the progress line needs.'''
    def __init__(self):
        self.scores, self.targets = [], []
        self.loss, self.n = 0.0, 0

    def add(self, out, target, loss):
        self.loss += loss.item() * len(target)
        self.n += len(target)
        self.scores.append(torch.sigmoid(out.detach()))
        self.targets.append(target)

    def line(self):
        auc = roc_auc_score(torch.cat(self.targets).numpy(), torch.cat(self.scores).numpy())
        return f"loss {self.loss / self.n:.4f} auc {auc:.4f}"


net = TabNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    stats = EpochStats()
    net.train()
    for idx in torch.randperm(n_train).split(256):
        out = net(num[idx], cat[idx])
        loss = F.binary_cross_entropy_with_logits(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats.add(out, y[idx], loss)
    net.eval()
    with torch.no_grad():
        val = torch.sigmoid(net(num[n_train:], cat[n_train:]))
    print(f"epoch {epoch}  {stats.line()}  val auc {roc_auc_score(y[n_train:].numpy(), val.numpy()):.4f}")
"""
