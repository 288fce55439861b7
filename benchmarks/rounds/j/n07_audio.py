NAME = 'Trains a small keyword network on random crops of log-mel spectrograms of eight-second clips.'
FAULT = 'The dataset computes the spectrogram of the whole clip and then keeps 64 of its almost 800 frames.'
CURE = 'Draw the crop first and compute the spectrogram of the samples that these frames need.'
KIND = 'time'
FAULT_LINES = [
    'feats = log_mel(wave)[:, start:start + FRAMES]',
    'spec = torch.stft(wave, N_FFT, HOP, window=WINDOW, center=False, return_complex=True)',
    'return torch.log1p(MEL @ (spec.real ** 2 + spec.imag ** 2))',
]
FAULT_CALLS = ['log_mel', 'stft', '__getitem__', 'matmul', 'mm']

FAULTY = r"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(13)
torch.set_num_threads(1)

SR, SECONDS, N_FFT, HOP, FRAMES, MELS = 16000, 8, 1024, 160, 64, 64


def make_clip(label):
    t = torch.arange(SR * SECONDS) / SR
    f0 = 180 * (1 + label) * (1 + 0.05 * torch.randn(1))
    wave = sum(torch.sin(2 * math.pi * f0 * h * t) / h for h in range(1, 4))
    return wave * (1 + 0.5 * torch.sin(2 * math.pi * (2 + label) * t)) + 0.8 * torch.randn(len(t))


def mel_matrix():
    hz = torch.linspace(0, SR / 2, N_FFT // 2 + 1)
    mel = torch.linspace(0, 2595 * math.log10(1 + SR / 2 / 700), MELS + 2)
    pts = 700 * (10 ** (mel / 2595) - 1)
    up = (hz[None] - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - hz[None]) / (pts[2:] - pts[1:-1])[:, None]
    return torch.minimum(up, down).clamp_min(0)


WINDOW, MEL = torch.hann_window(N_FFT), mel_matrix()


def log_mel(wave):
    spec = torch.stft(wave, N_FFT, HOP, window=WINDOW, center=False, return_complex=True)
    return torch.log1p(MEL @ (spec.real ** 2 + spec.imag ** 2))


class Clips(Dataset):
    def __init__(self, n):
        self.y = torch.randint(0, 5, (n,))
        self.waves = [make_clip(int(c)) for c in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        wave = self.waves[i]
        total = (len(wave) - N_FFT) // HOP + 1
        start = int(torch.randint(0, total - FRAMES, (1,)))
        feats = log_mel(wave)[:, start:start + FRAMES]
        return feats, self.y[i]


net = nn.Sequential(
    nn.Conv1d(MELS, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
    nn.Flatten(), nn.Linear(64, 5),
)
loader = DataLoader(Clips(240), batch_size=24, shuffle=True)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(15):
    seen, right, total_loss = 0, 0, 0.0
    for x, y in loader:
        out = net(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(y)
        right += int((out.argmax(1) == y).sum())
        total_loss += loss.item() * len(y)
    print(f"epoch {epoch} loss {total_loss / seen:.4f} acc {right / seen:.3f}")
"""

CURED = r"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(13)
torch.set_num_threads(1)

SR, SECONDS, N_FFT, HOP, FRAMES, MELS = 16000, 8, 1024, 160, 64, 64


def make_clip(label):
    t = torch.arange(SR * SECONDS) / SR
    f0 = 180 * (1 + label) * (1 + 0.05 * torch.randn(1))
    wave = sum(torch.sin(2 * math.pi * f0 * h * t) / h for h in range(1, 4))
    return wave * (1 + 0.5 * torch.sin(2 * math.pi * (2 + label) * t)) + 0.8 * torch.randn(len(t))


def mel_matrix():
    hz = torch.linspace(0, SR / 2, N_FFT // 2 + 1)
    mel = torch.linspace(0, 2595 * math.log10(1 + SR / 2 / 700), MELS + 2)
    pts = 700 * (10 ** (mel / 2595) - 1)
    up = (hz[None] - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - hz[None]) / (pts[2:] - pts[1:-1])[:, None]
    return torch.minimum(up, down).clamp_min(0)


WINDOW, MEL = torch.hann_window(N_FFT), mel_matrix()


def log_mel(wave):
    spec = torch.stft(wave, N_FFT, HOP, window=WINDOW, center=False, return_complex=True)
    return torch.log1p(MEL @ (spec.real ** 2 + spec.imag ** 2))


class Clips(Dataset):
    def __init__(self, n):
        self.y = torch.randint(0, 5, (n,))
        self.waves = [make_clip(int(c)) for c in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        wave = self.waves[i]
        total = (len(wave) - N_FFT) // HOP + 1
        start = int(torch.randint(0, total - FRAMES, (1,)))
        feats = log_mel(wave[start * HOP:(start + FRAMES - 1) * HOP + N_FFT])
        return feats, self.y[i]


net = nn.Sequential(
    nn.Conv1d(MELS, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
    nn.Flatten(), nn.Linear(64, 5),
)
loader = DataLoader(Clips(240), batch_size=24, shuffle=True)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(15):
    seen, right, total_loss = 0, 0, 0.0
    for x, y in loader:
        out = net(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(y)
        right += int((out.argmax(1) == y).sum())
        total_loss += loss.item() * len(y)
    print(f"epoch {epoch} loss {total_loss / seen:.4f} acc {right / seen:.3f}")
"""
