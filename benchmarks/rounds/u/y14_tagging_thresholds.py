NAME = 'Trains a multi-label tagger and after each epoch picks the best F1 threshold for every tag.'
FAULT = 'For each of 499 thresholds and each tag it goes over all validation scores again, instead of sorting once.'
CURE = "Sort each tag's scores once and read the counts at all thresholds from cumulative sums."
KIND = 'time'
FAULT_LINES = ['for t in grid:', 'pred = p >= t', 'tp = np.sum(pred & y)', 'n_pred = np.sum(pred)']
FAULT_CALLS = ['sum', '&', '>=', 'greater_equal', 'bitwise_and', 'best_threshold']

FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
np.random.seed(4)

N_TRAIN, N_VALID, DIM, TAGS = 24_000, 120_000, 128, 32
EPOCHS, BATCH = 4, 256

# every tag has its own direction and its own base rate
direction = torch.randn(DIM, TAGS) / DIM ** 0.5
bias = torch.linspace(-2.5, -0.5, TAGS)


def make_split(n):
    x = torch.randn(n, DIM)
    p = torch.sigmoid(3 * (x @ direction) + bias)
    return x, (torch.rand(n, TAGS) < p).float()


x_train, y_train = make_split(N_TRAIN)
x_valid, y_valid = make_split(N_VALID)

model = nn.Sequential(
    nn.Linear(DIM, 256), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(256, TAGS),
)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.02)
loss_fn = nn.BCEWithLogitsLoss()


def train_epoch():
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / N_TRAIN


@torch.no_grad()
def predict(x):
    model.eval()
    return torch.cat([model(b).sigmoid() for b in x.split(2000)])


def best_threshold(p, y, grid):
    """Threshold of the grid with the highest F1, for one tag."""
    n_pos = y.sum()
    scores = []
    for t in grid:
        pred = p >= t
        tp = np.sum(pred & y)
        n_pred = np.sum(pred)
        scores.append(2 * tp / max(n_pred + n_pos, 1))
    best = int(np.argmax(scores))
    return grid[best], scores[best]


def tune_thresholds(probs, labels):
    grid = np.linspace(0.0, 1.0, 501, dtype=np.float32)[1:-1]
    probs = np.ascontiguousarray(probs.numpy().T)
    labels = np.ascontiguousarray(labels.numpy().T).astype(bool)
    result = [best_threshold(p, y, grid) for p, y in zip(probs, labels)]
    thresholds, f1 = map(np.array, zip(*result))
    return thresholds, f1


for epoch in range(1, EPOCHS + 1):
    train_loss = train_epoch()
    probs = predict(x_valid)
    thresholds, f1 = tune_thresholds(probs, y_valid)
    print(f"epoch {epoch}  loss {train_loss:.4f}  macro F1 {f1.mean():.4f}  "
          f"thresholds {thresholds.min():.3f} to {thresholds.max():.3f}")

print("per tag F1:", np.round(f1, 3).tolist())
'''

CURED = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
np.random.seed(4)

N_TRAIN, N_VALID, DIM, TAGS = 24_000, 120_000, 128, 32
EPOCHS, BATCH = 4, 256

# every tag has its own direction and its own base rate
direction = torch.randn(DIM, TAGS) / DIM ** 0.5
bias = torch.linspace(-2.5, -0.5, TAGS)


def make_split(n):
    x = torch.randn(n, DIM)
    p = torch.sigmoid(3 * (x @ direction) + bias)
    return x, (torch.rand(n, TAGS) < p).float()


x_train, y_train = make_split(N_TRAIN)
x_valid, y_valid = make_split(N_VALID)

model = nn.Sequential(
    nn.Linear(DIM, 256), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(256, TAGS),
)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.02)
loss_fn = nn.BCEWithLogitsLoss()


def train_epoch():
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / N_TRAIN


@torch.no_grad()
def predict(x):
    model.eval()
    return torch.cat([model(b).sigmoid() for b in x.split(2000)])


def best_threshold(p, y, grid):
    """Threshold of the grid with the highest F1, for one tag."""
    n_pos = y.sum()
    order = np.argsort(p)
    first = np.searchsorted(p[order], grid, side="left")
    below = np.concatenate([[0], np.cumsum(y[order])])
    tp = n_pos - below[first]
    n_pred = len(p) - first
    scores = 2 * tp / np.maximum(n_pred + n_pos, 1)
    best = int(np.argmax(scores))
    return grid[best], scores[best]


def tune_thresholds(probs, labels):
    grid = np.linspace(0.0, 1.0, 501, dtype=np.float32)[1:-1]
    probs = np.ascontiguousarray(probs.numpy().T)
    labels = np.ascontiguousarray(labels.numpy().T).astype(bool)
    result = [best_threshold(p, y, grid) for p, y in zip(probs, labels)]
    thresholds, f1 = map(np.array, zip(*result))
    return thresholds, f1


for epoch in range(1, EPOCHS + 1):
    train_loss = train_epoch()
    probs = predict(x_valid)
    thresholds, f1 = tune_thresholds(probs, y_valid)
    print(f"epoch {epoch}  loss {train_loss:.4f}  macro F1 {f1.mean():.4f}  "
          f"thresholds {thresholds.min():.3f} to {thresholds.max():.3f}")

print("per tag F1:", np.round(f1, 3).tolist())
'''
