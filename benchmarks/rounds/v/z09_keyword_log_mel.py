NAME = 'Trains a small 1-D convolutional keyword classifier on log-mel features of randomly shifted synthetic clips.'
FAULT = 'The mel filter bank, which never changes, is rebuilt in numpy for every single clip inside LogMel.__call__.'
CURE = 'Build the filter bank once in LogMel.__init__ and reuse it.'
KIND = 'time'
FAULT_LINES = ['bank = mel_bank(self.sr, self.n_fft, self.n_mels)', 'for m in range(n_mels):', 'bank[m] = np.maximum(0.0, np.minimum(up, down)) * 2.0 / (hi - lo)', 'return self.features(wav), self.labels[i]']
FAULT_CALLS = ['mel_bank', '__call__', 'maximum', 'minimum', '__getitem__']
FAULTY = r"""import math
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
SR, N_FFT, HOP, N_MELS, N_CLASSES = 16000, 1024, 256, 80, 6


def make_clips(n, seconds=0.8, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(int(SR * seconds)) / SR
    clips, labels = [], []
    for _ in range(n):
        k = int(rng.integers(N_CLASSES))
        f0 = 180.0 * (k + 1) * (1 + 0.05 * rng.standard_normal())
        x = np.sin(2 * np.pi * f0 * t) + 0.4 * np.sin(4 * np.pi * f0 * t + rng.uniform(0, 6))
        x = x * np.exp(-3.0 * np.abs(t - rng.uniform(0.2, 0.6))) + 0.6 * rng.standard_normal(t.size)
        clips.append(x.astype(np.float32))
        labels.append(k)
    return torch.from_numpy(np.stack(clips)), torch.tensor(labels)


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_bank(sr, n_fft, n_mels, fmin=40.0, fmax=7600.0):
    mels = np.linspace(hz_to_mel(fmin), hz_to_mel(fmax), n_mels + 2)
    edges = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    freqs = np.linspace(0.0, sr / 2, n_fft // 2 + 1)
    bank = np.zeros((n_mels, freqs.size))
    for m in range(n_mels):
        lo, mid, hi = edges[m:m + 3]
        up = (freqs - lo) / (mid - lo)
        down = (hi - freqs) / (hi - mid)
        bank[m] = np.maximum(0.0, np.minimum(up, down)) * 2.0 / (hi - lo)
    return torch.from_numpy(bank).float()


class LogMel:
    def __init__(self, sr=SR, n_fft=N_FFT, hop=HOP, n_mels=N_MELS):
        self.sr, self.n_fft, self.hop, self.n_mels = sr, n_fft, hop, n_mels
        self.window = torch.hann_window(n_fft)

    def __call__(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.real.square() + spec.imag.square()
        bank = mel_bank(self.sr, self.n_fft, self.n_mels)
        return torch.log(bank @ power + 1e-6)


class KeywordDataset(Dataset):
    def __init__(self, wavs, labels, train):
        self.wavs, self.labels, self.train = wavs, labels, train
        self.features = LogMel()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        wav = self.wavs[i]
        if self.train:
            wav = torch.roll(wav, int(torch.randint(-1200, 1200, (1,)))) * (0.7 + 0.6 * torch.rand(1))
        return self.features(wav), self.labels[i]


net = nn.Sequential(
    nn.Conv1d(N_MELS, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Conv1d(64, 64, 5, stride=2, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, N_CLASSES))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

train_loader = DataLoader(KeywordDataset(*make_clips(640), train=True), batch_size=32, shuffle=True)
test_loader = DataLoader(KeywordDataset(*make_clips(160, seed=1), train=False), batch_size=32)

for epoch in range(9):
    net.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch}  train loss {total / 640:.4f}  test acc {hits / 160:.3f}")
"""
CURED = r"""import math
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
SR, N_FFT, HOP, N_MELS, N_CLASSES = 16000, 1024, 256, 80, 6


def make_clips(n, seconds=0.8, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(int(SR * seconds)) / SR
    clips, labels = [], []
    for _ in range(n):
        k = int(rng.integers(N_CLASSES))
        f0 = 180.0 * (k + 1) * (1 + 0.05 * rng.standard_normal())
        x = np.sin(2 * np.pi * f0 * t) + 0.4 * np.sin(4 * np.pi * f0 * t + rng.uniform(0, 6))
        x = x * np.exp(-3.0 * np.abs(t - rng.uniform(0.2, 0.6))) + 0.6 * rng.standard_normal(t.size)
        clips.append(x.astype(np.float32))
        labels.append(k)
    return torch.from_numpy(np.stack(clips)), torch.tensor(labels)


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_bank(sr, n_fft, n_mels, fmin=40.0, fmax=7600.0):
    mels = np.linspace(hz_to_mel(fmin), hz_to_mel(fmax), n_mels + 2)
    edges = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    freqs = np.linspace(0.0, sr / 2, n_fft // 2 + 1)
    bank = np.zeros((n_mels, freqs.size))
    for m in range(n_mels):
        lo, mid, hi = edges[m:m + 3]
        up = (freqs - lo) / (mid - lo)
        down = (hi - freqs) / (hi - mid)
        bank[m] = np.maximum(0.0, np.minimum(up, down)) * 2.0 / (hi - lo)
    return torch.from_numpy(bank).float()


class LogMel:
    def __init__(self, sr=SR, n_fft=N_FFT, hop=HOP, n_mels=N_MELS):
        self.sr, self.n_fft, self.hop, self.n_mels = sr, n_fft, hop, n_mels
        self.window = torch.hann_window(n_fft)
        self.bank = mel_bank(sr, n_fft, n_mels)

    def __call__(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.real.square() + spec.imag.square()
        return torch.log(self.bank @ power + 1e-6)


class KeywordDataset(Dataset):
    def __init__(self, wavs, labels, train):
        self.wavs, self.labels, self.train = wavs, labels, train
        self.features = LogMel()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        wav = self.wavs[i]
        if self.train:
            wav = torch.roll(wav, int(torch.randint(-1200, 1200, (1,)))) * (0.7 + 0.6 * torch.rand(1))
        return self.features(wav), self.labels[i]


net = nn.Sequential(
    nn.Conv1d(N_MELS, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Conv1d(64, 64, 5, stride=2, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, N_CLASSES))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

train_loader = DataLoader(KeywordDataset(*make_clips(640), train=True), batch_size=32, shuffle=True)
test_loader = DataLoader(KeywordDataset(*make_clips(160, seed=1), train=False), batch_size=32)

for epoch in range(9):
    net.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch}  train loss {total / 640:.4f}  test acc {hits / 160:.3f}")
"""
