NAME = 'Trains a next-value predictor on overlapping windows of a long multi-lead ECG-like recording.'
FAULT = 'All overlapping stride-1 windows are copied into one big array before training, 200 times the size of the recording.'
CURE = 'Take the windows as a view of the recording with unfold, so that only each batch is copied.'
KIND = 'memory'
FAULT_LINES = ['windows = np.stack([signal[i:i + WINDOW] for i in range(len(signal) - WINDOW)])', 'inputs = torch.from_numpy(windows)']
FAULT_CALLS = ['stack', 'listcomp', 'concatenate', 'from_numpy']

FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(19)
rs = np.random.RandomState(19)

LEADS, LENGTH, WINDOW, BATCH = 6, 110_000, 200, 256


def recording():
    t = np.arange(LENGTH)
    rate = 60 + 8 * np.sin(2 * np.pi * t / 20_000) + rs.randn()
    phase = np.cumsum(1.0 / rate)
    beat = phase % 1.0
    shape = (np.exp(-((beat - 0.3) / 0.02) ** 2)
             - 0.25 * np.exp(-((beat - 0.36) / 0.03) ** 2)
             + 0.3 * np.exp(-((beat - 0.6) / 0.06) ** 2))
    mixing = rs.uniform(0.4, 1.2, LEADS)
    drift = 0.2 * np.sin(2 * np.pi * t[:, None] / rs.uniform(2000, 6000, LEADS))
    signal = shape[:, None] * mixing + drift + 0.03 * rs.randn(LENGTH, LEADS)
    return signal.astype(np.float32)


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(),
            nn.Linear(WINDOW * LEADS, 512), nn.ReLU(),
            nn.Linear(512, 256), nn.ReLU(),
            nn.Linear(256, LEADS))

    def forward(self, x):
        return self.net(x) + x[:, -1]


signal = recording()
signal = (signal - signal.mean(0)) / signal.std(0)
windows = np.stack([signal[i:i + WINDOW] for i in range(len(signal) - WINDOW)])
inputs = torch.from_numpy(windows)
targets = torch.from_numpy(signal[WINDOW:])
print("windows", tuple(inputs.shape), "targets", tuple(targets.shape))

n_train = int(0.85 * len(inputs))
model = Predictor()
opt = torch.optim.Adam(model.parameters(), lr=3e-4)
loss_fn = nn.MSELoss()

naive = (targets[n_train:] - targets[n_train - 1:-1]).pow(2).mean().item()
print(f"repeat-last-value mse {naive:.4f}")

for epoch in range(2):
    model.train()
    total, seen = 0.0, 0
    for idx in torch.randperm(n_train).split(BATCH):
        x, y = inputs[idx], targets[idx]
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        seen += len(idx)
    model.eval()
    sq, count = torch.zeros(LEADS), 0
    with torch.no_grad():
        for idx in torch.arange(n_train, len(inputs)).split(1024):
            sq += (model(inputs[idx]) - targets[idx]).pow(2).sum(0)
            count += len(idx)
    print(f"epoch {epoch}: train {total / seen:.4f}, test {(sq / count).mean().item():.4f}, "
          f"worst lead {(sq / count).max().item():.4f}")
'''

CURED = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(19)
rs = np.random.RandomState(19)

LEADS, LENGTH, WINDOW, BATCH = 6, 110_000, 200, 256


def recording():
    t = np.arange(LENGTH)
    rate = 60 + 8 * np.sin(2 * np.pi * t / 20_000) + rs.randn()
    phase = np.cumsum(1.0 / rate)
    beat = phase % 1.0
    shape = (np.exp(-((beat - 0.3) / 0.02) ** 2)
             - 0.25 * np.exp(-((beat - 0.36) / 0.03) ** 2)
             + 0.3 * np.exp(-((beat - 0.6) / 0.06) ** 2))
    mixing = rs.uniform(0.4, 1.2, LEADS)
    drift = 0.2 * np.sin(2 * np.pi * t[:, None] / rs.uniform(2000, 6000, LEADS))
    signal = shape[:, None] * mixing + drift + 0.03 * rs.randn(LENGTH, LEADS)
    return signal.astype(np.float32)


class Predictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(),
            nn.Linear(WINDOW * LEADS, 512), nn.ReLU(),
            nn.Linear(512, 256), nn.ReLU(),
            nn.Linear(256, LEADS))

    def forward(self, x):
        return self.net(x) + x[:, -1]


signal = recording()
signal = (signal - signal.mean(0)) / signal.std(0)
inputs = torch.from_numpy(signal[:-1]).unfold(0, WINDOW, 1).transpose(1, 2)
targets = torch.from_numpy(signal[WINDOW:])
print("windows", tuple(inputs.shape), "targets", tuple(targets.shape))

n_train = int(0.85 * len(inputs))
model = Predictor()
opt = torch.optim.Adam(model.parameters(), lr=3e-4)
loss_fn = nn.MSELoss()

naive = (targets[n_train:] - targets[n_train - 1:-1]).pow(2).mean().item()
print(f"repeat-last-value mse {naive:.4f}")

for epoch in range(2):
    model.train()
    total, seen = 0.0, 0
    for idx in torch.randperm(n_train).split(BATCH):
        x, y = inputs[idx], targets[idx]
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        seen += len(idx)
    model.eval()
    sq, count = torch.zeros(LEADS), 0
    with torch.no_grad():
        for idx in torch.arange(n_train, len(inputs)).split(1024):
            sq += (model(inputs[idx]) - targets[idx]).pow(2).sum(0)
            count += len(idx)
    print(f"epoch {epoch}: train {total / seen:.4f}, test {(sq / count).mean().item():.4f}, "
          f"worst lead {(sq / count).max().item():.4f}")
'''
