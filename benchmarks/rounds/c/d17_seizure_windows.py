NAME = 'd17_seizure_windows'
FAULT = 'All overlapping windows are materialised as one dense tensor, which copies each sample of the recording 320 times.'
CURE = 'Use a strided view (unfold) of the recording and let the batches copy only what they need.'
KIND = 'memory'
FAULT_LINES = (17,)
FAULT_CALLS = ('stack',)
FAULTY = """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)

CH, WIN = 8, 320
N = 60_000
eeg = torch.cumsum(torch.randn(N, CH), 0)
eeg = eeg - eeg.roll(40, 0)
eeg = (eeg - eeg.mean(0)) / eeg.std(0)
burst = torch.zeros(N)
for s in range(2000, N, 6000):
    burst[s:s + 1500] = 1
eeg = eeg + burst[:, None] * torch.sin(torch.arange(N) * 0.6)[:, None]

windows = torch.stack([eeg[i:i + WIN].T for i in range(N - WIN)])
labels = burst[WIN - 1:N - 1].clone()

loader = DataLoader(TensorDataset(windows, labels), batch_size=128, shuffle=True)

model = nn.Sequential(
    nn.Conv1d(CH, 24, 9, stride=4), nn.ReLU(),
    nn.Conv1d(24, 32, 7, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 1),
)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()

seen = []
for step, (xb, yb) in enumerate(loader):
    opt.zero_grad()
    loss = loss_fn(model(xb).squeeze(1), yb)
    loss.backward()
    opt.step()
    seen.append(loss.item())
    if step == 250:
        break

print("windows", tuple(windows.shape), "loss %.3f" % (sum(seen[-30:]) / 30))
"""
CURED = """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)

CH, WIN = 8, 320
N = 60_000
eeg = torch.cumsum(torch.randn(N, CH), 0)
eeg = eeg - eeg.roll(40, 0)
eeg = (eeg - eeg.mean(0)) / eeg.std(0)
burst = torch.zeros(N)
for s in range(2000, N, 6000):
    burst[s:s + 1500] = 1
eeg = eeg + burst[:, None] * torch.sin(torch.arange(N) * 0.6)[:, None]

windows = eeg.unfold(0, WIN, 1)[:N - WIN]
labels = burst[WIN - 1:N - 1].clone()

loader = DataLoader(TensorDataset(windows, labels), batch_size=128, shuffle=True)

model = nn.Sequential(
    nn.Conv1d(CH, 24, 9, stride=4), nn.ReLU(),
    nn.Conv1d(24, 32, 7, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 1),
)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()

seen = []
for step, (xb, yb) in enumerate(loader):
    opt.zero_grad()
    loss = loss_fn(model(xb).squeeze(1), yb)
    loss.backward()
    opt.step()
    seen.append(loss.item())
    if step == 250:
        break

print("windows", tuple(windows.shape), "loss %.3f" % (sum(seen[-30:]) / 30))
"""
