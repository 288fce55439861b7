NAME = 'd03_tabular_click_model'
FAULT = 'next(iter(loader)) starts a new epoch iterator for every step, which reshuffles all 300000 indices to use only one batch.'
CURE = 'Keep one iterator over the loader and draw successive batches from it.'
KIND = 'time'
FAULT_LINES = (25,)
FAULT_CALLS = ('next', '__next__', 'iter', 'randperm', 'tolist')
FAULTY = """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)

n_rows, n_feat = 300_000, 24
X = torch.randn(n_rows, n_feat)
logits = X[:, :5].sum(1) * 0.7 + 0.5 * X[:, 5] * X[:, 6]
y = (torch.rand(n_rows) < torch.sigmoid(logits)).float()

loader = DataLoader(TensorDataset(X, y), batch_size=256, shuffle=True)

model = nn.Sequential(
    nn.Linear(n_feat, 128), nn.ReLU(),
    nn.Linear(128, 128), nn.ReLU(),
    nn.Linear(128, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss()

max_steps = 300
running = 0.0
for step in range(max_steps):
    xb, yb = next(iter(loader))
    optimizer.zero_grad()
    loss = loss_fn(model(xb).squeeze(1), yb)
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * loss.item()
    if (step + 1) % 100 == 0:
        print(f"step {step + 1}: {running:.3f}")

with torch.no_grad():
    acc = ((model(X[:20000]).squeeze(1) > 0).float() == y[:20000]).float().mean()
print(f"accuracy {acc:.2f}")
"""
CURED = """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)

n_rows, n_feat = 300_000, 24
X = torch.randn(n_rows, n_feat)
logits = X[:, :5].sum(1) * 0.7 + 0.5 * X[:, 5] * X[:, 6]
y = (torch.rand(n_rows) < torch.sigmoid(logits)).float()

loader = DataLoader(TensorDataset(X, y), batch_size=256, shuffle=True)

model = nn.Sequential(
    nn.Linear(n_feat, 128), nn.ReLU(),
    nn.Linear(128, 128), nn.ReLU(),
    nn.Linear(128, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.BCEWithLogitsLoss()

max_steps = 300
batches = iter(loader)
running = 0.0
for step in range(max_steps):
    xb, yb = next(batches)
    optimizer.zero_grad()
    loss = loss_fn(model(xb).squeeze(1), yb)
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * loss.item()
    if (step + 1) % 100 == 0:
        print(f"step {step + 1}: {running:.3f}")

with torch.no_grad():
    acc = ((model(X[:20000]).squeeze(1) > 0).float() == y[:20000]).float().mean()
print(f"accuracy {acc:.2f}")
"""
