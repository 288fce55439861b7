NAME = 'Sepsis risk from vital-sign sequences, with bootstrap confidence intervals'
FAULT = 'Each bootstrap resample sends the resampled patients through the LSTM again; the predictions of a patient are the same in every resample'
CURE = 'Predict once for the test set and resample the stored predictions'
KIND = 'time'
FAULT_LINES = ['p = predict(model, Xte[pick])', 'for b in range(n_boot):']
FAULT_CALLS = ['predict', 'self.rnn', 'lstm', 'LSTM']
FAULTY = r"""
import numpy as np
import torch
from torch import nn, Tensor
from sklearn.metrics import roc_auc_score, average_precision_score, brier_score_loss

torch.set_num_threads(1)
torch.manual_seed(77)
rng = np.random.default_rng(77)

N, T, D = 2100, 36, 8


def simulate_icu(n: int) -> tuple[Tensor, Tensor]:
    risk = rng.normal(size=n)
    drift = 0.05 * np.maximum(risk, 0)[:, None] * np.arange(T)[None, :]
    x = rng.normal(size=(n, T, D)).cumsum(axis=1) * 0.15
    x[:, :, 0] += drift                     # heart rate
    x[:, :, 1] -= 0.7 * drift               # blood pressure
    x[:, :, 2] += 0.4 * drift               # temperature
    logit = 1.6 * risk - 1.4 + 0.5 * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


class VitalLSTM(nn.Module):
    def __init__(self, d: int, hidden: int = 64):
        super().__init__()
        self.rnn = nn.LSTM(d, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        h, _ = self.rnn(x)
        return self.fc(self.norm(h[:, -1])).squeeze(-1)


@torch.no_grad()
def predict(model: nn.Module, x: Tensor) -> np.ndarray:
    model.eval()
    return torch.sigmoid(model(x)).numpy()


X, y = simulate_icu(N)
Xtr, ytr, Xte, yte = X[:1500], y[:1500], X[1500:], y[1500:]

model = VitalLSTM(D)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(10):
    model.train()
    losses = []
    for idx in torch.randperm(len(Xtr)).split(100):
        loss = loss_fn(model(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  bce {np.mean(losses):.4f}")


def bootstrap(model, n_boot=120, seed=1):
    boot = np.random.default_rng(seed)
    rows = []
    for b in range(n_boot):
        pick = torch.from_numpy(boot.integers(0, len(Xte), len(Xte)))
        p = predict(model, Xte[pick])
        t = yte[pick].numpy()
        rows.append((roc_auc_score(t, p), average_precision_score(t, p), brier_score_loss(t, p)))
    return np.array(rows)


p = predict(model, Xte)
point = (roc_auc_score(yte, p), average_precision_score(yte, p), brier_score_loss(yte, p))
reps = bootstrap(model)
for name, v, r in zip(["AUROC", "AUPRC", "Brier"], point, reps.T):
    lo, hi = np.percentile(r, [2.5, 97.5])
    print(f"{name}: {v:.4f}  95% CI [{lo:.4f}, {hi:.4f}]")
"""
CURED = r"""
import numpy as np
import torch
from torch import nn, Tensor
from sklearn.metrics import roc_auc_score, average_precision_score, brier_score_loss

torch.set_num_threads(1)
torch.manual_seed(77)
rng = np.random.default_rng(77)

N, T, D = 2100, 36, 8


def simulate_icu(n: int) -> tuple[Tensor, Tensor]:
    risk = rng.normal(size=n)
    drift = 0.05 * np.maximum(risk, 0)[:, None] * np.arange(T)[None, :]
    x = rng.normal(size=(n, T, D)).cumsum(axis=1) * 0.15
    x[:, :, 0] += drift                     # heart rate
    x[:, :, 1] -= 0.7 * drift               # blood pressure
    x[:, :, 2] += 0.4 * drift               # temperature
    logit = 1.6 * risk - 1.4 + 0.5 * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


class VitalLSTM(nn.Module):
    def __init__(self, d: int, hidden: int = 64):
        super().__init__()
        self.rnn = nn.LSTM(d, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> Tensor:
        h, _ = self.rnn(x)
        return self.fc(self.norm(h[:, -1])).squeeze(-1)


@torch.no_grad()
def predict(model: nn.Module, x: Tensor) -> np.ndarray:
    model.eval()
    return torch.sigmoid(model(x)).numpy()


X, y = simulate_icu(N)
Xtr, ytr, Xte, yte = X[:1500], y[:1500], X[1500:], y[1500:]

model = VitalLSTM(D)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(10):
    model.train()
    losses = []
    for idx in torch.randperm(len(Xtr)).split(100):
        loss = loss_fn(model(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        losses.append(loss.item())
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  bce {np.mean(losses):.4f}")


def bootstrap(model, n_boot=120, seed=1):
    boot = np.random.default_rng(seed)
    rows = []
    p_all = predict(model, Xte)
    for b in range(n_boot):
        pick = torch.from_numpy(boot.integers(0, len(Xte), len(Xte)))
        p = p_all[pick.numpy()]
        t = yte[pick].numpy()
        rows.append((roc_auc_score(t, p), average_precision_score(t, p), brier_score_loss(t, p)))
    return np.array(rows)


p = predict(model, Xte)
point = (roc_auc_score(yte, p), average_precision_score(yte, p), brier_score_loss(yte, p))
reps = bootstrap(model)
for name, v, r in zip(["AUROC", "AUPRC", "Brier"], point, reps.T):
    lo, hi = np.percentile(r, [2.5, 97.5])
    print(f"{name}: {v:.4f}  95% CI [{lo:.4f}, {hi:.4f}]")
"""
