NAME = "Recognises hand gestures from wrist accelerometer sequences with a two-layer GRU and early stopping."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "loss.item() at every step, the running loss kept in a list, and a deepcopy of the model's state at each better epoch: on a CPU there is no device to wait for, the values are plain floats, and the copy of 40 thousand numbers takes under a millisecond and is needed for the return to the best epoch."
GOOD = r'''
import copy
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(17)
rng = np.random.default_rng(17)

GESTURES = ["swipe", "circle", "push", "wave", "twist", "tap"]
T, AXES = 80, 6


def record(n):
    t = np.linspace(0, 1, T)
    y = rng.integers(0, len(GESTURES), n)
    speed = rng.uniform(0.7, 1.3, (n, 1))
    phase = rng.uniform(0, 0.25, (n, 1))
    base = 2 * np.pi * (speed * t[None] + phase)
    x = rng.normal(0, 0.8, (n, T, AXES))
    for k in range(AXES):
        x[..., k] += np.sin(base * (1 + (y[:, None] + k) % 3)) * ((y[:, None] + 2 * k) % 4 != 0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class GestureGRU(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.gru = nn.GRU(AXES, hidden, num_layers=2)
        self.head = nn.Linear(hidden, len(GESTURES))

    def forward(self, x):
        h, _ = self.gru(x.transpose(0, 1).contiguous())
        return self.head(h.mean(0))


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def step(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logit = model(x)
        return nn.functional.cross_entropy(logit, y).item(), (logit.argmax(1) == y).float().mean().item()


x, y = record(1900)
train, valid, test = (x[:1400], y[:1400]), (x[1400:1600], y[1400:1600]), (x[1600:], y[1600:])

model = GestureGRU()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
stopper = EarlyStopping(patience=2)
trace = []
for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(train[0])).split(70):
        loss = nn.functional.cross_entropy(model(train[0][idx]), train[1][idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        trace.append(loss.item())
    val_loss, val_acc = evaluate(model, *valid)
    print(f"epoch {epoch:2d}  train {np.mean(trace[-20:]):.3f}  valid {val_loss:.3f}  acc {val_acc:.3f}")
    if stopper.step(val_loss, model):
        break

model.load_state_dict(stopper.state)
test_loss, test_acc = evaluate(model, *test)
print(f"best validation loss {stopper.best:.3f}, test accuracy {test_acc:.3f}")
'''
