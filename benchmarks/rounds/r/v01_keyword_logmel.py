NAME = 'Trains a small keyword spotter on log-mel features that are computed in the Dataset from randomly shifted, noisy one-second clips.'
FAULT = 'Every item rebuilds the mel filterbank (and the window) from scratch in log_mel, although they depend only on constants.'
CURE = 'Build the mel filterbank and the window once in the constructor and use them for every item.'
KIND = 'time'
FAULT_LINES = ['fbank = mel_filterbank(SR, N_FFT, N_MELS)', 'ramp_up = (freqs - lo) / (mid - lo)', 'bank[m] = torch.minimum(ramp_up, ramp_down).clamp(min=0.0) * 2.0 / (hi - lo)', 'return self.log_mel(wav), self.labels[i]']
FAULT_CALLS = ['mel_filterbank', 'log_mel', '__getitem__', 'minimum', 'clamp', 'linspace', 'hann_window']

FAULTY = r'''
import math
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)

SR, N_FFT, HOP, N_MELS, N_CLASSES = 16000, 512, 160, 64, 6


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(sr, n_fft, n_mels, fmin=60.0):
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    lo_mel, hi_mel = hz_to_mel(fmin), hz_to_mel(sr / 2)
    edges = [mel_to_hz(lo_mel + (hi_mel - lo_mel) * k / (n_mels + 1)) for k in range(n_mels + 2)]
    bank = torch.zeros(n_mels, freqs.numel())
    for m in range(n_mels):
        lo, mid, hi = edges[m], edges[m + 1], edges[m + 2]
        ramp_up = (freqs - lo) / (mid - lo)
        ramp_down = (hi - freqs) / (hi - mid)
        bank[m] = torch.minimum(ramp_up, ramp_down).clamp(min=0.0) * 2.0 / (hi - lo)
    return bank


def synth_clips(n):
    t = torch.arange(SR) / SR
    labels = torch.randint(0, N_CLASSES, (n,))
    base = 180.0 + 140.0 * labels.float() + 30.0 * torch.randn(n)
    sweep = torch.exp(-((t[None, :] - 0.5) ** 2) / 0.03)
    waves = torch.sin(2 * math.pi * base[:, None] * t[None, :] * (1 + 0.05 * t[None, :])) * sweep
    return waves, labels


class KeywordClips(Dataset):
    def __init__(self, n):
        self.waves, self.labels = synth_clips(n)

    def __len__(self):
        return len(self.labels)

    def log_mel(self, wav):
        window = torch.hann_window(N_FFT)
        fbank = mel_filterbank(SR, N_FFT, N_MELS)
        spec = torch.stft(wav, N_FFT, HOP, window=window, return_complex=True)
        power = spec.real ** 2 + spec.imag ** 2
        return torch.log(fbank @ power + 1e-6)

    def __getitem__(self, i):
        shift = int(torch.randint(-1600, 1600, (1,)))
        wav = torch.roll(self.waves[i], shift) + 0.1 * torch.randn(SR)
        return self.log_mel(wav), self.labels[i]


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.BatchNorm1d(N_MELS),
            nn.Conv1d(N_MELS, 64, 5, stride=2), nn.ReLU(),
            nn.Conv1d(64, 64, 5, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, N_CLASSES))

    def forward(self, x):
        return self.net(x)


train_dl = DataLoader(KeywordClips(800), batch_size=32, shuffle=True)
test_dl = DataLoader(KeywordClips(200), batch_size=50)
model = Spotter()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(4):
    model.train()
    total = 0.0
    for x, y in train_dl:
        loss = loss_fn(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_dl)
    print(f"epoch {epoch}  train loss {total / 800:.3f}  test acc {hits / 200:.3f}")
'''

CURED = r'''
import math
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)

SR, N_FFT, HOP, N_MELS, N_CLASSES = 16000, 512, 160, 64, 6


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(sr, n_fft, n_mels, fmin=60.0):
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    lo_mel, hi_mel = hz_to_mel(fmin), hz_to_mel(sr / 2)
    edges = [mel_to_hz(lo_mel + (hi_mel - lo_mel) * k / (n_mels + 1)) for k in range(n_mels + 2)]
    bank = torch.zeros(n_mels, freqs.numel())
    for m in range(n_mels):
        lo, mid, hi = edges[m], edges[m + 1], edges[m + 2]
        ramp_up = (freqs - lo) / (mid - lo)
        ramp_down = (hi - freqs) / (hi - mid)
        bank[m] = torch.minimum(ramp_up, ramp_down).clamp(min=0.0) * 2.0 / (hi - lo)
    return bank


def synth_clips(n):
    t = torch.arange(SR) / SR
    labels = torch.randint(0, N_CLASSES, (n,))
    base = 180.0 + 140.0 * labels.float() + 30.0 * torch.randn(n)
    sweep = torch.exp(-((t[None, :] - 0.5) ** 2) / 0.03)
    waves = torch.sin(2 * math.pi * base[:, None] * t[None, :] * (1 + 0.05 * t[None, :])) * sweep
    return waves, labels


class KeywordClips(Dataset):
    def __init__(self, n):
        self.waves, self.labels = synth_clips(n)
        self.window = torch.hann_window(N_FFT)
        self.fbank = mel_filterbank(SR, N_FFT, N_MELS)

    def __len__(self):
        return len(self.labels)

    def log_mel(self, wav):
        spec = torch.stft(wav, N_FFT, HOP, window=self.window, return_complex=True)
        power = spec.real ** 2 + spec.imag ** 2
        return torch.log(self.fbank @ power + 1e-6)

    def __getitem__(self, i):
        shift = int(torch.randint(-1600, 1600, (1,)))
        wav = torch.roll(self.waves[i], shift) + 0.1 * torch.randn(SR)
        return self.log_mel(wav), self.labels[i]


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.BatchNorm1d(N_MELS),
            nn.Conv1d(N_MELS, 64, 5, stride=2), nn.ReLU(),
            nn.Conv1d(64, 64, 5, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, N_CLASSES))

    def forward(self, x):
        return self.net(x)


train_dl = DataLoader(KeywordClips(800), batch_size=32, shuffle=True)
test_dl = DataLoader(KeywordClips(200), batch_size=50)
model = Spotter()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(4):
    model.train()
    total = 0.0
    for x, y in train_dl:
        loss = loss_fn(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_dl)
    print(f"epoch {epoch}  train loss {total / 800:.3f}  test acc {hits / 200:.3f}")
'''
