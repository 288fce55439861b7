NAME = 'Trains an LSTM on gait recordings with random augmentation in the data set.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The Dataset works sample by sample with numpy and adds fresh noise in each epoch, but that takes about one percent of the time and, being random, cannot be kept.'
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(14)
np.random.seed(14)


class GaitSet(Dataset):
    def __init__(self, n=512, length=120, axes=6):
        self.y = np.random.randint(0, 4, n)
        t = np.arange(length) / 50
        f = 1.2 + 0.3 * self.y[:, None, None] + 0.1 * np.random.rand(n, 1, 1)
        ph = 6.28 * np.random.rand(n, 1, axes)
        self.x = (np.sin(6.28 * f * t[None, :, None] + ph) + 0.3 * np.random.randn(n, length, axes)).astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        scale = np.float32(1 + 0.1 * np.random.randn())
        x = x * scale + 0.05 * np.random.randn(*x.shape).astype(np.float32)
        return torch.from_numpy(x), int(self.y[i])


class GaitLSTM(nn.Module):
    def __init__(self, axes=6, hidden=256):
        super().__init__()
        self.lstm = nn.LSTM(axes, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 4)

    def forward(self, x):
        z, _ = self.lstm(x)
        return self.out(z.mean(1))


loader = DataLoader(GaitSet(), batch_size=128, shuffle=True)
model = GaitLSTM()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(3):
    seen, total, good = 0, 0.0, 0
    for x, y in loader:
        out = model(x)
        loss = loss_fn(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
        good += (out.argmax(1) == y).sum().item()
        seen += len(y)
    print(f'epoch {epoch}: loss {total / seen:.3f}  acc {good / seen:.3f}')
"""
