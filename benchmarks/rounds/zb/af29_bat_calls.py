NAME = "A small CNN classifies synthetic bat calls from log-mel spectrograms computed on the fly with random time shifts."
FAULT = "The triangular filter bank, which depends on constants only, is built anew in a Python loop for every clip that is loaded."
CURE = "Cache the filter bank (functools.lru_cache on the function that builds it)."
KIND = "time"
FAULT_LINES = ["def filter_bank(n_bands, n_fft, sr, f_lo, f_hi):", "fb = torch.from_numpy(filter_bank(N_BANDS, N_FFT, SR, 9_000, 120_000))", "for k in range(lo, hi + 1):"]
FAULT_CALLS = ["filter_bank", "log_spectrogram", "__getitem__"]
FAULTY = r'''
from functools import lru_cache
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(8)
np.random.seed(8)

SR = 256_000
N_FFT, HOP, N_BANDS = 1024, 160, 48
CLIP = 6144           # 24 ms
SPECIES = {"pipistrelle": (85e3, 46e3, 6e-3), "noctule": (28e3, 20e3, 14e-3),
           "daubenton": (80e3, 30e3, 3.5e-3), "horseshoe": (82e3, 81e3, 16e-3)}


@lru_cache(maxsize=None)
def stft_window(n_fft):
    return torch.hann_window(n_fft)


def call(f0, f1, dur):
    n = int(dur * SR)
    t = np.arange(n) / SR
    f0, f1 = f0 * np.random.uniform(0.93, 1.07), f1 * np.random.uniform(0.93, 1.07)
    phase = 2 * np.pi * (f0 * t + 0.5 * (f1 - f0) / dur * t ** 2)
    sig = np.zeros(CLIP, dtype=np.float32)
    at = np.random.randint(0, CLIP - n)
    sig[at:at + n] = np.sin(phase) * np.hanning(n)
    return sig + np.random.uniform(0.4, 1.2) * np.random.randn(CLIP).astype(np.float32)


def filter_bank(n_bands, n_fft, sr, f_lo, f_hi):
    """triangular bands, equally spaced on a logarithmic axis"""
    n_bins = n_fft // 2 + 1
    edges = np.geomspace(f_lo, f_hi, n_bands + 2) * n_fft / sr
    fb = np.zeros((n_bands, n_bins), dtype=np.float32)
    for m in range(n_bands):
        left, mid, right = edges[m:m + 3]
        lo, hi = int(np.floor(left)), min(int(np.ceil(right)), n_bins - 1)
        for k in range(lo, hi + 1):
            up = (k - left) / (mid - left)
            down = (right - k) / (right - mid)
            fb[m, k] = max(0.0, min(up, down))
    return fb


def log_spectrogram(wave):
    spec = torch.stft(wave, N_FFT, HOP, window=stft_window(N_FFT), return_complex=True)
    power = spec.real ** 2 + spec.imag ** 2
    fb = torch.from_numpy(filter_bank(N_BANDS, N_FFT, SR, 9_000, 120_000))
    return torch.log(fb @ power + 1e-3)


class BatCalls(Dataset):
    def __init__(self, n, train):
        self.train = train
        names = list(SPECIES)
        self.y = np.random.randint(0, len(names), size=n)
        self.waves = torch.from_numpy(np.stack([call(*SPECIES[names[c]]) for c in self.y]))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        wave = self.waves[i]
        if self.train:
            wave = torch.roll(wave, int(torch.randint(-800, 800, (1,))))
        return log_spectrogram(wave).unsqueeze(0), int(self.y[i])


class CallNet(nn.Module):
    def __init__(self, n_cls):
        super().__init__()
        chans = [1, 16, 32, 48]
        layers = [nn.BatchNorm2d(1)]
        for a, b in zip(chans, chans[1:]):
            layers += [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.features = nn.Sequential(*layers)
        self.out = nn.Linear(chans[-1], n_cls)

    def forward(self, x):
        return self.out(self.features(x).amax(dim=(2, 3)))


train_dl = DataLoader(BatCalls(900, True), batch_size=32, shuffle=True)
test_dl = DataLoader(BatCalls(300, False), batch_size=100)
net = CallNet(len(SPECIES))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(4):
    net.train()
    seen, total = 0, 0.0
    for x, y in train_dl:
        opt.zero_grad()
        loss = crit(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
        seen += len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_dl)
    print(f"epoch {epoch}: train loss {total / seen:.4f}  test acc {hits / 300:.3f}")
'''
CURED = FAULTY.replace("def filter_bank(", "@lru_cache(maxsize=None)\ndef filter_bank(")
