NAME = 'Trains the same regressor with six seeds and early stopping to report the spread over seeds and the ensemble.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)


def alloy_table(n=2400, d=40):
    rng = np.random.default_rng(24)
    x = rng.standard_normal((n, d)).astype(np.float32)
    y = np.sin(2 * x[:, 0]) * x[:, 1] + np.abs(x[:, 2] - x[:, 3]) + 0.4 * rng.standard_normal(n)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


class Regressor(nn.Module):
    def __init__(self, d, width=448):
        super().__init__()
        self.inp = nn.Linear(d, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for layer in self.hidden:
            h = h + torch.relu(layer(h))
        return self.out(h).squeeze(-1)


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def update(self, score, model):
        if score < self.best:
            self.best, self.bad = score, 0
            self.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.bad += 1
        return self.bad >= self.patience


def rmse(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x) - y).pow(2).mean().sqrt().item()


def run_seed(seed, data, max_epochs=40, patience=4):
    '''One full training; the initial weights and the order of the batches belong to the seed.'''
    x, y, xv, yv, xt, yt = data
    torch.manual_seed(seed)
    model = Regressor(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    stop = EarlyStop(patience)
    for epoch in range(max_epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(128):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
        if stop.update(rmse(model, xv, yv), model):
            break
    model.load_state_dict(stop.state)
    return epoch + 1, stop.best, rmse(model, xt, yt), model


x, y = alloy_table()
data = (x[:1800], y[:1800], x[1800:2100], y[1800:2100], x[2100:], y[2100:])
tests, models = [], []
for seed in range(6):
    epochs, valid, test, model = run_seed(seed, data)
    tests.append(test)
    models.append(model)
    print(f"seed {seed} epochs {epochs} valid {valid:.2f} test {test:.2f}")
with torch.no_grad():
    mean = torch.stack([m(data[4]) for m in models]).mean(0)
print(f"test {np.mean(tests):.3f} +- {np.std(tests):.3f} ensemble {(mean - data[5]).pow(2).mean().sqrt().item():.3f}")
"""
