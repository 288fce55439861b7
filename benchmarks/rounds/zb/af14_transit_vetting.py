NAME = "Trains a patch transformer to vet folded light curves for exoplanet transits and reports ranking metrics per epoch."
FAULT = "After each mini-batch the AUC, average precision and best-F1 threshold are worked out anew over everything seen in the epoch, while only the value at the epoch's end is ever used."
CURE = "Only collect scores in update() and compute the metrics once, at the end of the epoch."
KIND = "time"
FAULT_LINES = ["        self.values = self.compute()", "        meter.update(torch.sigmoid(logit), yb)"]
FAULT_CALLS = ["roc_auc_score", "average_precision_score", "precision_recall_curve", "compute", "update", "RunningMetrics"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

N, L, PATCH = 6400, 192, 16


def folded_curves(n):
    """Box-ish transits in half of the curves, V-shaped eclipses and spots in the rest."""
    phase = np.linspace(-0.5, 0.5, L)[None]
    y = (rng.random(n) < 0.3).astype(np.float32)
    flux = rng.normal(0, 1.0, (n, L))
    depth = rng.uniform(0.6, 2.5, (n, 1))
    width = rng.uniform(0.04, 0.12, (n, 1))
    box = 1 / (1 + np.exp((np.abs(phase) - width) / 0.008))
    vee = np.clip(1 - np.abs(phase) / (2 * width), 0, None)
    spots = np.sin(2 * np.pi * (phase * rng.integers(1, 4, (n, 1)) + rng.random((n, 1))))
    flux -= np.where(y[:, None] > 0, depth * box, depth * vee * (rng.random((n, 1)) < 0.7))
    flux += 0.4 * spots
    flux -= np.median(flux, 1, keepdims=True)
    return torch.tensor(flux, dtype=torch.float32), torch.tensor(y)


class RunningMetrics:
    """Scores of the current epoch."""

    def __init__(self):
        self.scores, self.labels, self.values = [], [], {}

    def update(self, score, label):
        self.scores.append(score.detach().numpy())
        self.labels.append(label.numpy())
        self.values = self.compute()

    def compute(self):
        s, t = np.concatenate(self.scores), np.concatenate(self.labels)
        p, r, thr = precision_recall_curve(t, s)
        f1 = 2 * p * r / np.maximum(p + r, 1e-9)
        return {
            "auc": roc_auc_score(t, s),
            "ap": average_precision_score(t, s),
            "f1": f1.max(),
            "thr": thr[min(int(f1.argmax()), len(thr) - 1)],
        }

    def summary(self):
        return "  ".join(f"{k} {v:.4f}" for k, v in self.values.items())


class PatchTransformer(nn.Module):
    def __init__(self, d=32, heads=4, layers=2):
        super().__init__()
        self.proj = nn.Linear(PATCH, d)
        self.pos = nn.Parameter(0.02 * torch.randn(1, L // PATCH, d))
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        z = self.proj(x.unflatten(1, (-1, PATCH))) + self.pos
        return self.out(self.enc(z).mean(1)).squeeze(1)


flux, label = folded_curves(N)
n_train = 5120
model = PatchTransformer()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)

BS = 32
for epoch in range(4):
    model.train()
    meter = RunningMetrics()
    perm = torch.randperm(n_train)
    for i in range(0, n_train, BS):
        idx = perm[i:i + BS]
        xb, yb = flux[idx], label[idx]
        logit = model(xb)
        loss = F.binary_cross_entropy_with_logits(logit, yb)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        meter.update(torch.sigmoid(logit), yb)
    print(f"[{epoch}] train  {meter.summary()}")

    model.eval()
    with torch.no_grad():
        val = torch.sigmoid(model(flux[n_train:])).numpy()
    print(f"[{epoch}] valid  auc {roc_auc_score(label[n_train:], val):.4f}")
'''
CURED = (FAULTY
         .replace("        self.labels.append(label.numpy())\n        self.values = self.compute()\n", "        self.labels.append(label.numpy())\n")
         .replace("    def summary(self):\n", "    def summary(self):\n        self.values = self.compute()\n"))
