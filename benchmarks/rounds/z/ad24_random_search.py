NAME = "Random search over residual tabular networks with median pruning after every epoch."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Every trial builds and trains a model from scratch, scores the validation set after each epoch and copies the best weights; widths and rates differ between trials, the pruning rule needs each score, validation is small beside training and the copy costs next to nothing."
GOOD = r'''
import copy
import math
import random
import statistics
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(24)
torch.manual_seed(24)

# ---- data: nonlinear regression with 30 features ----
n, d = 9000, 30
X = torch.randn(n, d)
y = (torch.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * (X[:, 3] > 0).float() * X[:, 4]
     + 0.3 * X[:, 5:9].pow(2).sum(1) + 0.3 * torch.randn(n))
y = (y - y.mean()) / y.std()
X_train, y_train = X[:7600], y[:7600]
X_valid, y_valid = X[7600:8200], y[7600:8200]
X_test, y_test = X[8200:], y[8200:]


class ResLayer(nn.Module):
    def __init__(self, width, drop):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.drop = drop

    def forward(self, x):
        h = self.down(F.gelu(self.up(self.norm(x))))
        return x + F.dropout(h, self.drop, self.training)


def build(cfg):
    return nn.Sequential(nn.Linear(d, cfg["width"]),
                         *[ResLayer(cfg["width"], cfg["drop"]) for _ in range(cfg["depth"])],
                         nn.LayerNorm(cfg["width"]), nn.Linear(cfg["width"], 1), nn.Flatten(0))


def sample_config():
    return {"width": random.choice([96, 128, 192]), "depth": random.choice([2, 3]),
            "drop": random.choice([0.0, 0.1, 0.2]), "lr": 10 ** random.uniform(-3.7, -2.2),
            "wd": 10 ** random.uniform(-5, -2)}


def validate(model):
    model.eval()
    with torch.no_grad():
        return F.mse_loss(model(X_valid), y_valid).item()


class Study:
    def __init__(self, epochs=5, batch=256, warm=3):
        self.epochs, self.batch, self.warm = epochs, batch, warm
        self.curves, self.rows = [], []
        self.best, self.best_state, self.best_cfg = math.inf, None, None

    def should_prune(self, epoch, score):
        others = [c[epoch] for c in self.curves if len(c) > epoch]
        return len(others) >= self.warm and score > statistics.median(others)

    def run_trial(self, cfg):
        torch.manual_seed(len(self.rows))
        model = build(cfg)
        opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=cfg["wd"], fused=True)
        curve, pruned = [], False
        for epoch in range(self.epochs):
            model.train()
            for idx in torch.randperm(len(X_train)).split(self.batch):
                loss = F.mse_loss(model(X_train[idx]), y_train[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
            score = validate(model)
            curve.append(score)
            if score < self.best:
                self.best, self.best_cfg = score, cfg
                self.best_state = copy.deepcopy(model.state_dict())
            if epoch < self.epochs - 1 and self.should_prune(epoch, score):
                pruned = True
                break
        self.curves.append(curve)
        self.rows.append({**cfg, "epochs": len(curve), "mse": min(curve), "pruned": pruned})


study = Study()
for trial in range(12):
    study.run_trial(sample_config())

table = pd.DataFrame(study.rows).sort_values("mse")
print(table.round(4).head(5).to_string(index=False))
print(f"{table.pruned.sum()} of {len(table)} trials pruned, {table.epochs.sum()} epochs in all")

final = build(study.best_cfg)
final.load_state_dict(study.best_state)
final.eval()
with torch.no_grad():
    print(f"test mse of the best model: {F.mse_loss(final(X_test), y_test).item():.4f}")
'''
