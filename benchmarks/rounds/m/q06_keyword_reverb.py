NAME = 'Augments spoken-keyword-like clips with room reverb and noise, makes log spectrograms and trains a small CNN.'

FAULT = 'The reverb is applied with np.convolve, a direct convolution with a 0.3 s impulse response.'

CURE = 'Use FFT convolution (scipy.signal.fftconvolve).'

KIND = 'time'

FAULT_LINES = ['wet = np.convolve(clip, rir)[:len(clip)]']

FAULT_CALLS = ['numpy.convolve', 'add_room']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy import signal

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

SR, N_CLIPS, CLASSES = 16_000, 320, 5


def keyword(label):
    t = np.arange(SR) / SR
    f0 = 110 * 2 ** (rng.uniform(-0.3, 0.3))
    sweep = [0.0, 0.6, -0.4, 1.2, -0.9][label]
    phase = 2 * np.pi * np.cumsum(f0 * (1 + sweep * t)) / SR
    env = np.exp(-0.5 * ((t - rng.uniform(0.35, 0.6)) / 0.16) ** 2)
    return env * sum(np.sin(k * phase) / k for k in range(1, 6))


def room_response(rt60):
    n = int(0.3 * SR)
    tail = rng.standard_normal(n) * 10 ** (-3 * np.arange(n) / SR / rt60)
    tail[0] = 4.0
    return tail / np.linalg.norm(tail)


def add_room(clip, rir, snr_db):
    wet = np.convolve(clip, rir)[:len(clip)]
    noise = rng.standard_normal(len(wet))
    gain = np.sqrt(np.mean(wet ** 2) / 10 ** (snr_db / 10))
    return (wet + gain * noise).astype(np.float32)


def log_spec(batch, window):
    s = torch.stft(batch, n_fft=400, hop_length=200, window=window, return_complex=True)
    return torch.log1p(20 * s.abs()).unsqueeze(1)


class SpecNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d((4, 1)), nn.Flatten())
        self.head = nn.Linear(128, CLASSES)

    def forward(self, x):
        return self.head(self.body(x))


labels = rng.integers(0, CLASSES, N_CLIPS)
rooms = [room_response(r) for r in rng.uniform(0.2, 0.6, 12)]
clips = []
for y in labels:
    dry = keyword(y)
    clips.append(add_room(dry, rooms[rng.integers(len(rooms))], rng.uniform(5, 20)))
audio = torch.from_numpy(np.stack(clips))
feats = log_spec(audio, torch.hann_window(400))
y = torch.from_numpy(labels)
feats = (feats - feats.mean()) / feats.std()
n_train = 240
print("features", tuple(feats.shape), f"std of audio {audio.std():.4f}")

net = SpecNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, fused=True)
for epoch in range(5):
    for idx in torch.randperm(n_train).split(24):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(feats[idx]), y[idx])
        loss.backward()
        opt.step()
with torch.no_grad():
    acc = (net(feats[n_train:]).argmax(1) == y[n_train:]).float().mean()
print(f"last loss {loss.item():.3f}, accuracy {acc:.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from scipy import signal

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

SR, N_CLIPS, CLASSES = 16_000, 320, 5


def keyword(label):
    t = np.arange(SR) / SR
    f0 = 110 * 2 ** (rng.uniform(-0.3, 0.3))
    sweep = [0.0, 0.6, -0.4, 1.2, -0.9][label]
    phase = 2 * np.pi * np.cumsum(f0 * (1 + sweep * t)) / SR
    env = np.exp(-0.5 * ((t - rng.uniform(0.35, 0.6)) / 0.16) ** 2)
    return env * sum(np.sin(k * phase) / k for k in range(1, 6))


def room_response(rt60):
    n = int(0.3 * SR)
    tail = rng.standard_normal(n) * 10 ** (-3 * np.arange(n) / SR / rt60)
    tail[0] = 4.0
    return tail / np.linalg.norm(tail)


def add_room(clip, rir, snr_db):
    wet = signal.fftconvolve(clip, rir)[:len(clip)]
    noise = rng.standard_normal(len(wet))
    gain = np.sqrt(np.mean(wet ** 2) / 10 ** (snr_db / 10))
    return (wet + gain * noise).astype(np.float32)


def log_spec(batch, window):
    s = torch.stft(batch, n_fft=400, hop_length=200, window=window, return_complex=True)
    return torch.log1p(20 * s.abs()).unsqueeze(1)


class SpecNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d((4, 1)), nn.Flatten())
        self.head = nn.Linear(128, CLASSES)

    def forward(self, x):
        return self.head(self.body(x))


labels = rng.integers(0, CLASSES, N_CLIPS)
rooms = [room_response(r) for r in rng.uniform(0.2, 0.6, 12)]
clips = []
for y in labels:
    dry = keyword(y)
    clips.append(add_room(dry, rooms[rng.integers(len(rooms))], rng.uniform(5, 20)))
audio = torch.from_numpy(np.stack(clips))
feats = log_spec(audio, torch.hann_window(400))
y = torch.from_numpy(labels)
feats = (feats - feats.mean()) / feats.std()
n_train = 240
print("features", tuple(feats.shape), f"std of audio {audio.std():.4f}")

net = SpecNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, fused=True)
for epoch in range(5):
    for idx in torch.randperm(n_train).split(24):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(feats[idx]), y[idx])
        loss.backward()
        opt.step()
with torch.no_grad():
    acc = (net(feats[n_train:]).argmax(1) == y[n_train:]).float().mean()
print(f"last loss {loss.item():.3f}, accuracy {acc:.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 3/3 rounds: faulty 8.09 s (9.0, 7.46, 7.81), cured 4.56 s (5.21, 4.15, 4.31); share gained (faulty - cured) / faulty = 44%. Peak RSS 493 MB / 491 MB. Printed results identical.'
