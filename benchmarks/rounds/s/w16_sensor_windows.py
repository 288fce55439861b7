NAME = 'Trains a temporal convolution network that predicts the wear of a machine from sliding windows over sensor readings.'
FAULT = 'All overlapping windows are copied into one big tensor.'
CURE = 'Use Tensor.unfold, which gives the windows as a view of the series.'
KIND = 'memory'
FAULT_LINES = [
    'windows = torch.stack([series[i : i + WINDOW].T for i in range(len(series) - WINDOW + 1)])',
]
FAULT_CALLS = ['stack', 'make_windows']

FAULTY = r'''import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

STEPS, SENSORS, WINDOW, BATCH = 36_000, 20, 224, 128


def simulate_machine():
    t = torch.arange(STEPS, dtype=torch.float32)
    wear = torch.cumsum(torch.rand(STEPS) * (torch.rand(STEPS) < 0.02), dim=0) % 60 / 60
    freq = 0.02 + 0.2 * torch.rand(SENSORS)
    gain = torch.randn(SENSORS)
    phase = torch.rand(SENSORS) * 2 * math.pi
    vibration = torch.sin(t[:, None] * freq + phase) * (1 + gain * wear[:, None])
    return vibration + 0.7 * torch.randn(STEPS, SENSORS), wear


def make_windows(series, wear):
    series = (series - series.mean(0)) / series.std(0)
    windows = torch.stack([series[i : i + WINDOW].T for i in range(len(series) - WINDOW + 1)])
    return windows, wear[WINDOW - 1 :]


class WearNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.convs = nn.ModuleList([
            nn.Conv1d(SENSORS, width, 7, stride=4),
            nn.Conv1d(width, width, 5, stride=2),
            nn.Conv1d(width, width, 5, stride=2),
        ])
        self.head = nn.Sequential(nn.Linear(2 * width, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        pooled = torch.cat([x.mean(dim=2), x.std(dim=2)], dim=1)
        return torch.sigmoid(self.head(pooled)).squeeze(1)


windows, target = make_windows(*simulate_machine())
print("windows", tuple(windows.shape))

block = torch.arange(len(windows)) // 1500
is_test = block % 4 == 3
near_edge = (torch.arange(len(windows)) % 1500) < WINDOW
train_idx = torch.nonzero(~is_test & ~near_edge).squeeze(1)
test_idx = torch.nonzero(is_test & ~near_edge).squeeze(1)

model = WearNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)


@torch.no_grad()
def evaluate():
    model.eval()
    pred = torch.cat([model(windows[idx]) for idx in test_idx.split(512)])
    return (pred - target[test_idx]).abs().mean().item()


for epoch in range(2):
    model.train()
    running = 0.0
    for idx in train_idx[torch.randperm(len(train_idx))].split(BATCH):
        loss = F.mse_loss(model(windows[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    scheduler.step()
    print(f"epoch {epoch}: train mse {running / len(train_idx):.4f} test mae {evaluate():.3f}")

baseline = (target[test_idx] - target[train_idx].mean()).abs().mean().item()
print(f"mae of the constant forecast {baseline:.3f}")
'''

CURED = r'''import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

STEPS, SENSORS, WINDOW, BATCH = 36_000, 20, 224, 128


def simulate_machine():
    t = torch.arange(STEPS, dtype=torch.float32)
    wear = torch.cumsum(torch.rand(STEPS) * (torch.rand(STEPS) < 0.02), dim=0) % 60 / 60
    freq = 0.02 + 0.2 * torch.rand(SENSORS)
    gain = torch.randn(SENSORS)
    phase = torch.rand(SENSORS) * 2 * math.pi
    vibration = torch.sin(t[:, None] * freq + phase) * (1 + gain * wear[:, None])
    return vibration + 0.7 * torch.randn(STEPS, SENSORS), wear


def make_windows(series, wear):
    series = (series - series.mean(0)) / series.std(0)
    windows = series.unfold(0, WINDOW, 1)
    return windows, wear[WINDOW - 1 :]


class WearNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.convs = nn.ModuleList([
            nn.Conv1d(SENSORS, width, 7, stride=4),
            nn.Conv1d(width, width, 5, stride=2),
            nn.Conv1d(width, width, 5, stride=2),
        ])
        self.head = nn.Sequential(nn.Linear(2 * width, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        pooled = torch.cat([x.mean(dim=2), x.std(dim=2)], dim=1)
        return torch.sigmoid(self.head(pooled)).squeeze(1)


windows, target = make_windows(*simulate_machine())
print("windows", tuple(windows.shape))

block = torch.arange(len(windows)) // 1500
is_test = block % 4 == 3
near_edge = (torch.arange(len(windows)) % 1500) < WINDOW
train_idx = torch.nonzero(~is_test & ~near_edge).squeeze(1)
test_idx = torch.nonzero(is_test & ~near_edge).squeeze(1)

model = WearNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)


@torch.no_grad()
def evaluate():
    model.eval()
    pred = torch.cat([model(windows[idx]) for idx in test_idx.split(512)])
    return (pred - target[test_idx]).abs().mean().item()


for epoch in range(2):
    model.train()
    running = 0.0
    for idx in train_idx[torch.randperm(len(train_idx))].split(BATCH):
        loss = F.mse_loss(model(windows[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    scheduler.step()
    print(f"epoch {epoch}: train mse {running / len(train_idx):.4f} test mae {evaluate():.3f}")

baseline = (target[test_idx] - target[train_idx].mean()).abs().mean().item()
print(f"mae of the constant forecast {baseline:.3f}")
'''
