NAME = "Trains a maxout network that tells signal from background jets from calorimeter cells stored as columns."
FAULT = "The events are stored cell by cell (features x events), so drawing a random batch gathers each number from another cache line and page."
CURE = "Stack the columns event by event (dim=1) so that a batch takes whole contiguous rows."
KIND = "time"
FAULT_LINES = ["self.data = torch.stack(columns)", "return self.data[:, rows].t(), self.label[rows]"]
FAULT_CALLS = ["index", "__getitem__", "batch", "aten::index"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(13)
rng = np.random.default_rng(13)

N_EVENTS, GRID = 120_000, 20


def read_branches(n):
    """One array per calorimeter cell, as a columnar event file would give them."""
    label = (rng.random(n) < 0.5).astype(np.float32)
    split = 1.5 + 2.5 * label + rng.normal(0, 0.8, n).astype(np.float32)
    angle = rng.uniform(0, np.pi, n).astype(np.float32)
    dx, dy = split * np.cos(angle), split * np.sin(angle)
    energy = rng.gamma(6.0, 1.0, n).astype(np.float32)
    branches = {}
    for i in range(GRID):
        for j in range(GRID):
            x, y = np.float32(i - GRID / 2), np.float32(j - GRID / 2)
            near = np.abs(x - dx) + np.abs(y - dy)
            deposit = energy / (1 + near * near)
            branches[f"cell_{i}_{j}"] = deposit + rng.standard_normal(n, dtype=np.float32)
    return branches, label


class Events:
    def __init__(self, branches, label):
        columns = []
        for name in list(branches):
            c = torch.from_numpy(branches.pop(name))
            columns.append((c - c.mean()) / c.std())
        self.data = torch.stack(columns)
        self.label = torch.from_numpy(label)

    def __len__(self):
        return len(self.label)

    def batch(self, rows):
        return self.data[:, rows].t(), self.label[rows]


class Maxout(nn.Module):
    def __init__(self, d_in, d_out, pieces=2):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out * pieces)
        self.pieces = pieces

    def forward(self, x):
        return self.lin(x).unflatten(-1, (-1, self.pieces)).amax(-1)


class Tagger(nn.Module):
    def __init__(self, d_in, width=24):
        super().__init__()
        self.m1 = Maxout(d_in, width)
        self.m2 = Maxout(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.m2(self.m1(x))).squeeze(-1)


events = Events(*read_branches(N_EVENTS))
order = torch.randperm(len(events))
train_rows, test_rows = order[:100_000], order[100_000:]
tagger = Tagger(GRID * GRID)
opt = torch.optim.SGD(tagger.parameters(), lr=0.05, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)

for epoch in range(5):
    tagger.train()
    losses = []
    for rows in train_rows[torch.randperm(len(train_rows))].split(500):
        x, y = events.batch(rows)
        loss = F.binary_cross_entropy_with_logits(tagger(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    sched.step()
    tagger.eval()
    with torch.no_grad():
        parts = [events.batch(r) for r in test_rows.split(2000)]
        score = torch.cat([tagger(x) for x, _ in parts])
        truth = torch.cat([y for _, y in parts])
    print(f"epoch {epoch}: loss {np.mean(losses):.3f}, AUC {roc_auc_score(truth, score):.3f}")
'''
CURED = FAULTY.replace("torch.stack(columns)", "torch.stack(columns, dim=1)").replace("self.data[:, rows].t()", "self.data[rows]")
