NAME = 'Simulates federated averaging with non-identical clients on a tabular sensor classification task.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'Copying the model for each client and averaging state dicts in a Python loop looks like waste, but every client must start from the global weights and keep its own; the copies are tiny beside local training.'
GOOD = r"""
import copy
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(14)
rng = np.random.default_rng(14)

CLIENTS, ROUNDS, PER_ROUND, LOCAL_EPOCHS, MU = 30, 14, 6, 2, 0.01
X, y = make_classification(20_000, 32, n_informative=18, n_classes=6, n_clusters_per_class=2,
                           class_sep=1.3, random_state=14)
X = StandardScaler().fit_transform(X).astype('float32')
X_test, y_test = torch.tensor(X[16_000:]), torch.tensor(y[16_000:])

# Dirichlet split: clients see very different class mixtures
share = rng.dirichlet(np.full(CLIENTS, 0.4), size=6)
parts = [[] for _ in range(CLIENTS)]
for k in range(6):
    rows = rng.permutation(np.flatnonzero(y[:16_000] == k))
    cuts = (np.cumsum(share[k])[:-1] * len(rows)).astype(int)
    for c, chunk in enumerate(np.split(rows, cuts)):
        parts[c].extend(chunk)
clients = [(torch.tensor(X[p]), torch.tensor(y[p])) for p in parts if len(p) >= 40]
print('client sizes', sorted(len(b) for _, b in clients))


def make_model():
    return nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 6))


def local_update(global_model, xs, ys):
    model = copy.deepcopy(global_model)
    anchor = [p.detach() for p in global_model.parameters()]
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(LOCAL_EPOCHS):
        for idx in torch.randperm(len(ys)).split(16):
            loss = nn.functional.cross_entropy(model(xs[idx]), ys[idx])
            # FedProx: stay close to the global model
            prox = sum((p - q).pow(2).sum() for p, q in zip(model.parameters(), anchor))
            opt.zero_grad()
            (loss + 0.5 * MU * prox).backward()
            opt.step()
    return model.state_dict(), len(ys)


def average(updates):
    total = sum(n for _, n in updates)
    return {k: sum(sd[k] * (n / total) for sd, n in updates) for k in updates[0][0]}


@torch.no_grad()
def test(model):
    out = model(X_test)
    acc = (out.argmax(1) == y_test).float()
    per_class = [acc[y_test == k].mean().item() for k in range(6)]
    return acc.mean().item(), min(per_class)


model = make_model()
curve = []
for r in range(ROUNDS):
    chosen = rng.choice(len(clients), PER_ROUND, replace=False)
    updates = [local_update(model, *clients[c]) for c in chosen]
    model.load_state_dict(average(updates))
    curve.append(test(model))
    if r % 3 == 2:
        print(f'round {r + 1:2d}: accuracy {curve[-1][0]:.4f}, worst class {curve[-1][1]:.4f}')

plt.plot([a for a, _ in curve], label='mean')
plt.plot([b for _, b in curve], label='worst class')
plt.xlabel('communication round')
plt.legend()
plt.show()
print('final', tuple(round(v, 4) for v in curve[-1]))
"""
