NAME = 'Trains a probabilistic GRU forecaster on seasonal series and backtests it walk-forward after each epoch.'
FAULT = 'The backtest runs the GRU again over the whole prefix for every forecast origin, which is quadratic in the length, although the GRU is causal.'
CURE = 'Run the model once over the test series and take the outputs at all origins.'
KIND = 'time'
FAULT_LINES = ['params = model(x[:, :origin])', 'for origin in range(BURN_IN, x.shape[1]):', 'one_step.append(params[:, -1])', 'nll, mae, cover = walk_forward(model, test_x)']
FAULT_CALLS = ['walk_forward', 'forward', 'gru', 'GRU', 'linear']
FAULTY = r"""import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

T_TRAIN, T_TEST, BURN_IN = 336, 192, 48


def simulate(n, length):
    t = np.arange(length)
    day = rng.uniform(0.5, 1.5, (n, 1)) * np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6, (n, 1)))
    week = rng.uniform(0.2, 0.8, (n, 1)) * np.sin(2 * np.pi * t / 168 + rng.uniform(0, 6, (n, 1)))
    noise = np.zeros((n, length))
    for k in range(1, length):
        noise[:, k] = 0.8 * noise[:, k - 1] + 0.15 * rng.standard_normal(n)
    load = day + week + noise
    calendar = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], -1)
    x = np.concatenate([load[..., None], np.broadcast_to(calendar, (n, length, 2))], axis=-1)
    return torch.tensor(x, dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.rnn = nn.GRU(3, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states)


def gaussian_nll(params, y):
    mu, log_var = params[..., 0], params[..., 1].clamp(-6, 4)
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()


@torch.no_grad()
def walk_forward(model, x):
    model.eval()
    one_step = []
    for origin in range(BURN_IN, x.shape[1]):
        params = model(x[:, :origin])
        one_step.append(params[:, -1])
    params = torch.stack(one_step, dim=1)
    y = x[:, BURN_IN:, 0]
    mu, sigma = params[..., 0], (0.5 * params[..., 1].clamp(-6, 4)).exp()
    mae = (mu - y).abs().mean().item()
    cover = ((y - mu).abs() < 1.64 * sigma).float().mean().item()
    return gaussian_nll(params, y).item(), mae, cover


def batches(x, size):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx]


train_x = simulate(256, T_TRAIN)
test_x = simulate(24, T_TEST)
scale = train_x[..., 0].std()
train_x[..., 0] /= scale
test_x[..., 0] /= scale

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)

naive = (test_x[:, BURN_IN:, 0] - test_x[:, BURN_IN - 24:-24, 0]).abs().mean().item()
print(f"seasonal naive MAE {naive:.4f}")
for epoch in range(5):
    model.train()
    total, count = 0.0, 0
    for xb in batches(train_x, 32):
        loss = gaussian_nll(model(xb[:, :-1]), xb[:, 1:, 0])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total, count = total + loss.item(), count + 1
    sched.step()
    nll, mae, cover = walk_forward(model, test_x)
    print(f"epoch {epoch}  train nll {total / count:.3f}  test nll {nll:.3f}  MAE {mae:.3f}  90% cover {cover:.2f}")
"""
CURED = r"""import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

T_TRAIN, T_TEST, BURN_IN = 336, 192, 48


def simulate(n, length):
    t = np.arange(length)
    day = rng.uniform(0.5, 1.5, (n, 1)) * np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6, (n, 1)))
    week = rng.uniform(0.2, 0.8, (n, 1)) * np.sin(2 * np.pi * t / 168 + rng.uniform(0, 6, (n, 1)))
    noise = np.zeros((n, length))
    for k in range(1, length):
        noise[:, k] = 0.8 * noise[:, k - 1] + 0.15 * rng.standard_normal(n)
    load = day + week + noise
    calendar = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], -1)
    x = np.concatenate([load[..., None], np.broadcast_to(calendar, (n, length, 2))], axis=-1)
    return torch.tensor(x, dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.rnn = nn.GRU(3, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states)


def gaussian_nll(params, y):
    mu, log_var = params[..., 0], params[..., 1].clamp(-6, 4)
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()


@torch.no_grad()
def walk_forward(model, x):
    model.eval()
    params = model(x[:, :-1])[:, BURN_IN - 1:]
    y = x[:, BURN_IN:, 0]
    mu, sigma = params[..., 0], (0.5 * params[..., 1].clamp(-6, 4)).exp()
    mae = (mu - y).abs().mean().item()
    cover = ((y - mu).abs() < 1.64 * sigma).float().mean().item()
    return gaussian_nll(params, y).item(), mae, cover


def batches(x, size):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx]


train_x = simulate(256, T_TRAIN)
test_x = simulate(24, T_TEST)
scale = train_x[..., 0].std()
train_x[..., 0] /= scale
test_x[..., 0] /= scale

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)

naive = (test_x[:, BURN_IN:, 0] - test_x[:, BURN_IN - 24:-24, 0]).abs().mean().item()
print(f"seasonal naive MAE {naive:.4f}")
for epoch in range(5):
    model.train()
    total, count = 0.0, 0
    for xb in batches(train_x, 32):
        loss = gaussian_nll(model(xb[:, :-1]), xb[:, 1:, 0])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total, count = total + loss.item(), count + 1
    sched.step()
    nll, mae, cover = walk_forward(model, test_x)
    print(f"epoch {epoch}  train nll {total / count:.3f}  test nll {nll:.3f}  MAE {mae:.3f}  90% cover {cover:.2f}")
"""
