NAME = "Trains a small 1-D residual CNN on synthetic ECG strips to tell three rhythms apart."
FAULT = "The deterministic band-pass and notch filtering and scaling of every strip is done anew in __getitem__ at every epoch, although its result never changes."
CURE = "Filter every strip once in __init__ and let __getitem__ return the stored tensor."
KIND = "time"
FAULT_LINES = [
    "        sig = sosfiltfilt(self.sos, self.strips[i])",
    "        sig = filtfilt(*self.notch, sig)",
    "    def __getitem__(self, i):",
    "        return torch.tensor(sig, dtype=torch.float32)[None], int(self.rhythm[i])",
]
FAULT_CALLS = ["sosfiltfilt", "filtfilt", "lfilter", "sosfilt", "_sosfilt", "__getitem__", "clean"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.signal import butter, sosfiltfilt, iirnotch, filtfilt
from torch.utils.data import Dataset, DataLoader, Subset

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

FS, SECONDS = 250, 6


def synth_strip(rhythm):
    """0 = sinus, 1 = atrial fibrillation, 2 = premature beats"""
    t = np.arange(FS * SECONDS) / FS
    sig = np.zeros_like(t)
    pos = rng.uniform(0, 0.5)
    while pos < SECONDS:
        rr = 0.8 + 0.03 * rng.standard_normal()
        width = 0.012
        if rhythm == 1:
            rr = rng.uniform(0.4, 1.1)
        if rhythm == 2 and rng.random() < 0.3:
            rr, width = 0.55, 0.035
        sig += np.exp(-0.5 * ((t - pos) / width) ** 2)
        sig += 0.25 * np.exp(-0.5 * ((t - pos - 0.25) / 0.04) ** 2)
        if rhythm != 1:
            sig += 0.12 * np.exp(-0.5 * ((t - pos + 0.16) / 0.025) ** 2)
        pos += rr
    wander = 0.6 * np.sin(2 * np.pi * rng.uniform(0.1, 0.4) * t + rng.uniform(0, 6))
    mains = 0.2 * np.sin(2 * np.pi * 50 * t + rng.uniform(0, 6))
    return sig + wander + mains + 0.08 * rng.standard_normal(t.size)


class StripDataset(Dataset):
    def __init__(self, n):
        self.rhythm = rng.integers(0, 3, n)
        self.strips = [synth_strip(r) for r in self.rhythm]
        self.sos = butter(4, [0.5, 40], btype="band", fs=FS, output="sos")
        self.notch = iirnotch(50, 30, fs=FS)

    def __len__(self):
        return len(self.strips)

    def __getitem__(self, i):
        sig = sosfiltfilt(self.sos, self.strips[i])
        sig = filtfilt(*self.notch, sig)
        lo, hi = np.percentile(sig, [1, 99])
        sig = np.clip((sig - np.median(sig)) / (hi - lo), -2, 2)
        return torch.tensor(sig, dtype=torch.float32)[None], int(self.rhythm[i])


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.a = nn.Conv1d(cin, cout, 7, stride=2, padding=3)
        self.b = nn.Conv1d(cout, cout, 7, padding=3)
        self.skip = nn.Conv1d(cin, cout, 1, stride=2)
        self.na, self.nb = nn.BatchNorm1d(cout), nn.BatchNorm1d(cout)

    def forward(self, x):
        h = F.relu(self.na(self.a(x)))
        return F.relu(self.nb(self.b(h)) + self.skip(x))


net = nn.Sequential(
    nn.Conv1d(1, 12, 11, stride=2, padding=5), nn.ReLU(),
    Block(12, 16), Block(16, 24), Block(24, 32),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 3),
)

data = StripDataset(960)
train_dl = DataLoader(Subset(data, range(0, 768)), batch_size=32, shuffle=True)
test_dl = DataLoader(Subset(data, range(768, 960)), batch_size=64)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(8):
    net.train()
    total = 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_dl)
    print(f"epoch {epoch}: train loss {total / 768:.4f}  test acc {hits / 192:.3f}")
'''
CURED = FAULTY.replace('''        self.notch = iirnotch(50, 30, fs=FS)

''', '''        self.notch = iirnotch(50, 30, fs=FS)
        self.ready = [self.clean(s) for s in self.strips]

''').replace('''    def __getitem__(self, i):
        sig = sosfiltfilt(self.sos, self.strips[i])
''', '''    def clean(self, strip):
        sig = sosfiltfilt(self.sos, strip)
''').replace('''        return torch.tensor(sig, dtype=torch.float32)[None], int(self.rhythm[i])
''', '''        return torch.tensor(sig, dtype=torch.float32)[None]

    def __getitem__(self, i):
        return self.ready[i], int(self.rhythm[i])
''')
