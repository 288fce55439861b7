NAME = 'Trains a classifier of product embeddings into 3600 categories with label smoothing.'
FAULT = 'One-hot targets of the whole training set (20000 x 3600) are built at once, through int64, and kept.'
CURE = 'Make the one-hot target of each batch only (or use class indices with label_smoothing).'
KIND = 'memory'
FAULT_LINES = [
    'train_t = F.one_hot(train_y, N_CATEGORIES).float()',
    'soft = train_t[idx] * (1 - SMOOTH) + SMOOTH / N_CATEGORIES',
]
FAULT_CALLS = ['one_hot', 'F.one_hot', 'float', 'aten::one_hot', 'aten::zeros', 'aten::to', 'aten::_to_copy', 'aten::copy_', 'aten::scatter_']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)

# product titles -> category of the shop taxonomy
N_PRODUCTS = 22_000
N_HELD_OUT = 2_000
N_CATEGORIES = 3_600
DIM = 128
SMOOTH = 0.1
BATCH = 256
EPOCHS = 6

prototypes = torch.randn(N_CATEGORIES, DIM)
category = torch.randint(0, N_CATEGORIES, (N_PRODUCTS,))
title_emb = prototypes[category] + 1.1 * torch.randn(N_PRODUCTS, DIM)
price = torch.rand(N_PRODUCTS, 1) * 4
inputs = torch.cat([title_emb, price.log1p()], dim=1)

mu, sd = inputs.mean(0), inputs.std(0)
inputs = (inputs - mu) / sd

train_x, test_x = inputs[:-N_HELD_OUT], inputs[-N_HELD_OUT:]
train_y, test_y = category[:-N_HELD_OUT], category[-N_HELD_OUT:]


class CategoryNet(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(DIM + 1, width),
            nn.BatchNorm1d(width),
            nn.ReLU(),
            nn.Dropout(0.1),
        )
        self.head = nn.Linear(width, N_CATEGORIES)

    def forward(self, x):
        return self.head(self.body(x))


def smoothed_loss(logits, soft):
    return -(soft * F.log_softmax(logits, dim=1)).sum(1).mean()


train_t = F.one_hot(train_y, N_CATEGORIES).float()

model = CategoryNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
steps = EPOCHS * (len(train_x) // BATCH + 1)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps)

log = []
for epoch in range(EPOCHS):
    model.train()
    order = torch.randperm(len(train_x))
    seen, total = 0, 0.0
    for idx in order.split(BATCH):
        soft = train_t[idx] * (1 - SMOOTH) + SMOOTH / N_CATEGORIES
        logits = model(train_x[idx])
        loss = smoothed_loss(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item() * len(idx)
        seen += len(idx)

    model.eval()
    with torch.no_grad():
        top1 = top5 = 0
        for xb, yb in zip(test_x.split(500), test_y.split(500)):
            best = model(xb).topk(5, dim=1).indices
            top1 += (best[:, 0] == yb).sum().item()
            top5 += (best == yb[:, None]).any(1).sum().item()
    log.append((epoch, total / seen, top1 / N_HELD_OUT, top5 / N_HELD_OUT))

for epoch, loss, t1, t5 in log:
    print(f'epoch {epoch}  loss {loss:.4f}  top1 {t1:.3f}  top5 {t5:.3f}')
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)

# product titles -> category of the shop taxonomy
N_PRODUCTS = 22_000
N_HELD_OUT = 2_000
N_CATEGORIES = 3_600
DIM = 128
SMOOTH = 0.1
BATCH = 256
EPOCHS = 6

prototypes = torch.randn(N_CATEGORIES, DIM)
category = torch.randint(0, N_CATEGORIES, (N_PRODUCTS,))
title_emb = prototypes[category] + 1.1 * torch.randn(N_PRODUCTS, DIM)
price = torch.rand(N_PRODUCTS, 1) * 4
inputs = torch.cat([title_emb, price.log1p()], dim=1)

mu, sd = inputs.mean(0), inputs.std(0)
inputs = (inputs - mu) / sd

train_x, test_x = inputs[:-N_HELD_OUT], inputs[-N_HELD_OUT:]
train_y, test_y = category[:-N_HELD_OUT], category[-N_HELD_OUT:]


class CategoryNet(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(DIM + 1, width),
            nn.BatchNorm1d(width),
            nn.ReLU(),
            nn.Dropout(0.1),
        )
        self.head = nn.Linear(width, N_CATEGORIES)

    def forward(self, x):
        return self.head(self.body(x))


def smoothed_loss(logits, soft):
    return -(soft * F.log_softmax(logits, dim=1)).sum(1).mean()


model = CategoryNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
steps = EPOCHS * (len(train_x) // BATCH + 1)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps)

log = []
for epoch in range(EPOCHS):
    model.train()
    order = torch.randperm(len(train_x))
    seen, total = 0, 0.0
    for idx in order.split(BATCH):
        soft = F.one_hot(train_y[idx], N_CATEGORIES).float() * (1 - SMOOTH) + SMOOTH / N_CATEGORIES
        logits = model(train_x[idx])
        loss = smoothed_loss(logits, soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item() * len(idx)
        seen += len(idx)

    model.eval()
    with torch.no_grad():
        top1 = top5 = 0
        for xb, yb in zip(test_x.split(500), test_y.split(500)):
            best = model(xb).topk(5, dim=1).indices
            top1 += (best[:, 0] == yb).sum().item()
            top5 += (best == yb[:, None]).any(1).sum().item()
    log.append((epoch, total / seen, top1 / N_HELD_OUT, top5 / N_HELD_OUT))

for epoch, loss, t1, t5 in log:
    print(f'epoch {epoch}  loss {loss:.4f}  top1 {t1:.3f}  top5 {t5:.3f}')
"""
