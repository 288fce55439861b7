NAME = "Trains a small EEGNet-style network on synthetic motor-imagery EEG trials read through a Dataset."
FAULT = "The zero-phase band-pass, notch and re-referencing of every trial are done again each time the trial is read, in every epoch, although their result never changes."
CURE = "Prepare each trial once in the Dataset's constructor and only crop in __getitem__."
KIND = "time"
FAULT_LINES = ["        x = self.prepare(self.trials[i])", "        x = signal.sosfiltfilt(self.sos, x, axis=-1)"]
FAULT_CALLS = ["sosfiltfilt", "filtfilt", "prepare", "__getitem__", "sosfilt"]
FAULTY = r'''
import numpy as np
import torch
from scipy import signal
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

torch.set_num_threads(1)
torch.manual_seed(7)
np.random.seed(7)

FS = 250
N_TRIALS, N_CH, N_SAMP, CROP = 420, 16, 640, 512


def make_trials(n):
    t = np.arange(N_SAMP) / FS
    y = np.random.randint(0, 3, n)
    x = np.random.randn(n, N_CH, N_SAMP).cumsum(-1) * 0.15
    x += np.random.randn(n, N_CH, N_SAMP)
    for i, c in enumerate(y):
        mu = np.sin(2 * np.pi * (9 + 4 * c) * t + np.random.rand() * 6.28)
        x[i, 4 * c: 4 * c + 5] += 0.7 * mu
    x += 3.0 * np.sin(2 * np.pi * 50 * t)
    return x, y


class MotorImagery(Dataset):
    def __init__(self, trials, labels, crop=CROP):
        self.sos = signal.butter(4, [4, 38], btype="bandpass", fs=FS, output="sos")
        self.notch = signal.iirnotch(50, 30, fs=FS)
        self.trials = trials
        self.labels = labels
        self.crop = crop

    def __len__(self):
        return len(self.trials)

    def prepare(self, x):
        x = x - x.mean(0, keepdims=True)
        x = signal.filtfilt(*self.notch, x, axis=-1)
        x = signal.sosfiltfilt(self.sos, x, axis=-1)
        x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-6)
        return x.astype(np.float32)

    def __getitem__(self, i):
        x = self.prepare(self.trials[i])
        s = np.random.randint(0, x.shape[-1] - self.crop + 1)
        return torch.from_numpy(x[:, s:s + self.crop].copy()), int(self.labels[i])


class SmallEEGNet(nn.Module):
    def __init__(self, n_ch=N_CH, f1=6, d=2, n_classes=3):
        super().__init__()
        self.temporal = nn.Sequential(nn.Conv2d(1, f1, (1, 33), padding=(0, 16), bias=False), nn.BatchNorm2d(f1))
        self.spatial = nn.Sequential(
            nn.Conv2d(f1, f1 * d, (n_ch, 1), groups=f1, bias=False), nn.BatchNorm2d(f1 * d), nn.ELU(),
            nn.AvgPool2d((1, 4)), nn.Dropout(0.25))
        self.separable = nn.Sequential(
            nn.Conv2d(f1 * d, f1 * d, (1, 16), padding=(0, 8), groups=f1 * d, bias=False),
            nn.Conv2d(f1 * d, f1 * d, 1, bias=False), nn.BatchNorm2d(f1 * d), nn.ELU(),
            nn.AvgPool2d((1, 8)), nn.Dropout(0.25))
        self.head = nn.LazyLinear(n_classes)

    def forward(self, x):
        x = self.temporal(x.unsqueeze(1))
        return self.head(self.separable(self.spatial(x)).flatten(1))


trials, labels = make_trials(N_TRIALS)
data = MotorImagery(trials, labels)
order = np.random.permutation(N_TRIALS)
train_dl = DataLoader(Subset(data, order[:340]), batch_size=32, shuffle=True)
test_dl = DataLoader(Subset(data, order[340:]), batch_size=80)

net = SmallEEGNet()
net(torch.zeros(2, N_CH, CROP))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(9):
    net.train()
    running = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(yb)
    net.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            hits += (net(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch}: loss {running / 340:.4f}  test acc {hits / 80:.3f}")
'''
CURED = (FAULTY
         .replace("        self.trials = trials\n", "        self.trials = [self.prepare(x) for x in trials]\n")
         .replace("        x = self.prepare(self.trials[i])\n", "        x = self.trials[i]\n"))
