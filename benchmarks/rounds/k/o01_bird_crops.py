NAME = 'Trains a small bird-call classifier on random one-second log-mel crops of 12-second field recordings.'
FAULT = 'The dataset transforms the whole 12-second recording into a log-mel spectrogram and then keeps only one second of it.'
CURE = 'Cut the waveform segment that belongs to the crop first (start*HOP to start*HOP+(CROP_FRAMES-1)*HOP+N_FFT) and transform only that.'
KIND = 'time'
FAULT_LINES = ['feats = self.log_mel(wave)', 'clip = feats[:, start:start + CROP_FRAMES]', 'spec = torch.stft(wave, N_FFT, HOP, window=self.window, center=False, return_complex=True)', 'return torch.log(self.mel @ spec.abs().pow(2) + 1e-6)']
FAULT_CALLS = ['log_mel', 'stft', '__getitem__', 'log', 'abs']
FAULTY = r"""
import math
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(7)
SR, N_FFT, HOP, N_MELS = 16000, 512, 160, 48
CROP_FRAMES = 100


def mel_matrix(n_mels, n_fft, sr, fmin=40.0, fmax=7600.0):
    to_mel = lambda f: 2595.0 * math.log10(1.0 + f / 700.0)
    pts = torch.linspace(to_mel(fmin), to_mel(fmax), n_mels + 2)
    hz = 700.0 * (10.0 ** (pts / 2595.0) - 1.0)
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (freqs[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - freqs[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.clamp(torch.minimum(up, down), min=0.0)


def synth_call(species, seconds, rng):
    t = np.arange(int(seconds * SR)) / SR
    f0 = 400 + 350 * species
    sweep = f0 * (1 + 0.2 * np.sin(2 * np.pi * (2 + species) * t))
    x = np.sin(2 * np.pi * np.cumsum(sweep) / SR) + 0.8 * rng.standard_normal(t.size)
    return torch.from_numpy((0.1 * x).astype(np.float32))


class BirdClips(Dataset):
    '''Field recordings of 12 s; the classifier sees one second at a time.'''

    def __init__(self, recordings, labels, train=True):
        self.recordings, self.labels, self.train = recordings, labels, train
        self.window = torch.hann_window(N_FFT)
        self.mel = mel_matrix(N_MELS, N_FFT, SR)
        self.gen = torch.Generator().manual_seed(11)

    def __len__(self):
        return len(self.recordings)

    def log_mel(self, wave):
        spec = torch.stft(wave, N_FFT, HOP, window=self.window, center=False, return_complex=True)
        return torch.log(self.mel @ spec.abs().pow(2) + 1e-6)

    def __getitem__(self, i):
        wave = self.recordings[i]
        n_frames = (wave.numel() - N_FFT) // HOP + 1
        if self.train:
            start = int(torch.randint(0, n_frames - CROP_FRAMES, (1,), generator=self.gen))
        else:
            start = (n_frames - CROP_FRAMES) // 2
        feats = self.log_mel(wave)
        clip = feats[:, start:start + CROP_FRAMES]
        return clip[None], self.labels[i]


def make_net(n_classes):
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(block(1, 12), block(12, 24), block(24, 32), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(32, n_classes))


rng = np.random.default_rng(0)
labels = [i % 6 for i in range(120)]
recordings = [synth_call(c, 12.0, rng) for c in labels]
train_dl = DataLoader(BirdClips(recordings[:96], labels[:96]), batch_size=16, shuffle=True)
valid_dl = DataLoader(BirdClips(recordings[96:], labels[96:], train=False), batch_size=24)

net = make_net(6)
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(12):
    net.train()
    for x, y in train_dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in valid_dl)
    print(f"epoch {epoch} loss {loss.item():.2f} hits {hits}")
"""
CURED = r"""
import math
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(7)
SR, N_FFT, HOP, N_MELS = 16000, 512, 160, 48
CROP_FRAMES = 100


def mel_matrix(n_mels, n_fft, sr, fmin=40.0, fmax=7600.0):
    to_mel = lambda f: 2595.0 * math.log10(1.0 + f / 700.0)
    pts = torch.linspace(to_mel(fmin), to_mel(fmax), n_mels + 2)
    hz = 700.0 * (10.0 ** (pts / 2595.0) - 1.0)
    freqs = torch.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (freqs[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - freqs[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.clamp(torch.minimum(up, down), min=0.0)


def synth_call(species, seconds, rng):
    t = np.arange(int(seconds * SR)) / SR
    f0 = 400 + 350 * species
    sweep = f0 * (1 + 0.2 * np.sin(2 * np.pi * (2 + species) * t))
    x = np.sin(2 * np.pi * np.cumsum(sweep) / SR) + 0.8 * rng.standard_normal(t.size)
    return torch.from_numpy((0.1 * x).astype(np.float32))


class BirdClips(Dataset):
    '''Field recordings of 12 s; the classifier sees one second at a time.'''

    def __init__(self, recordings, labels, train=True):
        self.recordings, self.labels, self.train = recordings, labels, train
        self.window = torch.hann_window(N_FFT)
        self.mel = mel_matrix(N_MELS, N_FFT, SR)
        self.gen = torch.Generator().manual_seed(11)

    def __len__(self):
        return len(self.recordings)

    def log_mel(self, wave):
        spec = torch.stft(wave, N_FFT, HOP, window=self.window, center=False, return_complex=True)
        return torch.log(self.mel @ spec.abs().pow(2) + 1e-6)

    def __getitem__(self, i):
        wave = self.recordings[i]
        n_frames = (wave.numel() - N_FFT) // HOP + 1
        if self.train:
            start = int(torch.randint(0, n_frames - CROP_FRAMES, (1,), generator=self.gen))
        else:
            start = (n_frames - CROP_FRAMES) // 2
        first = start * HOP
        clip = self.log_mel(wave[first:first + (CROP_FRAMES - 1) * HOP + N_FFT])
        return clip[None], self.labels[i]


def make_net(n_classes):
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(block(1, 12), block(12, 24), block(24, 32), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(32, n_classes))


rng = np.random.default_rng(0)
labels = [i % 6 for i in range(120)]
recordings = [synth_call(c, 12.0, rng) for c in labels]
train_dl = DataLoader(BirdClips(recordings[:96], labels[:96]), batch_size=16, shuffle=True)
valid_dl = DataLoader(BirdClips(recordings[96:], labels[96:], train=False), batch_size=24)

net = make_net(6)
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(12):
    net.train()
    for x, y in train_dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in valid_dl)
    print(f"epoch {epoch} loss {loss.item():.2f} hits {hits}")
"""
