NAME = "Compares the calibration of a plain classifier with Monte-Carlo dropout on tabular data."
FAULT = None
CURE = None
KIND = None
LOOKS = "The same test set goes through the network 45 times in train mode: each pass draws new dropout masks from the input layer on, which is what Monte-Carlo dropout averages over, and it already runs without gradients."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.set_num_threads(1)
torch.manual_seed(21)
np.random.seed(21)

X, y = make_classification(n_samples=14_000, n_features=60, n_informative=25, n_redundant=10,
                           n_classes=6, n_clusters_per_class=3, flip_y=0.12, class_sep=1.2, random_state=21)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=8_000, random_state=21, stratify=y)
scaler = StandardScaler().fit(X_tr)
X_tr = torch.tensor(scaler.transform(X_tr), dtype=torch.float32)
X_te = torch.tensor(scaler.transform(X_te), dtype=torch.float32)
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

net = nn.Sequential(
    nn.Dropout(0.1), nn.Linear(60, 384), nn.ReLU(),
    nn.Dropout(0.3), nn.Linear(384, 384), nn.ReLU(),
    nn.Dropout(0.3), nn.Linear(384, 6),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)


def fit(epochs, batch=300):
    net.train()
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(X_tr)).split(batch):
            loss = F.cross_entropy(net(X_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {total / len(X_tr):.4f}")


def ece(probs, labels, bins=15):
    conf, guess = probs.max(1)
    hit = (guess == labels).float()
    which = (conf * bins).long().clamp(max=bins - 1)
    count = torch.bincount(which, minlength=bins).float()
    gap = torch.bincount(which, weights=conf - hit, minlength=bins).abs()
    return (gap.sum() / count.sum()).item()


def report(name, probs):
    acc = (probs.argmax(1) == y_te).float().mean().item()
    nll = F.nll_loss(probs.clamp_min(1e-8).log(), y_te).item()
    print(f"{name:12s} acc {acc:.3f}  nll {nll:.3f}  ece {ece(probs, y_te):.3f}")


fit(20)

with torch.no_grad():
    net.eval()
    report("plain", net(X_te).softmax(1))

    net.train()
    passes = 45
    mean = torch.zeros(len(X_te), 6)
    entropy = torch.zeros(len(X_te))
    for _ in range(passes):
        p = torch.cat([net(rows) for rows in X_te.split(500)]).softmax(1)
        mean += p / passes
        entropy -= (p * p.clamp_min(1e-8).log()).sum(1) / passes
    report("mc dropout", mean)

total_entropy = -(mean * mean.clamp_min(1e-8).log()).sum(1)
mutual = total_entropy - entropy
wrong = mean.argmax(1) != y_te
print(f"mutual information: right {mutual[~wrong].mean():.4f}, wrong {mutual[wrong].mean():.4f}")
'''
