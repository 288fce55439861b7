NAME = 'Trains a bird call classifier on log-mel spectrograms of one-second clips.'
FAULT = 'The log-mel spectrogram of each clip, which never changes, is computed again in every epoch.'
CURE = 'Compute the spectrograms once in __init__ and return the stored ones.'
KIND = 'time'
FAULT_LINES = [
    'spec = torch.stft(self.waves[i], 512, hop_length=128, window=self.window, return_complex=True)',
    'spec = spec.abs() ** 2',
    'logmel = torch.log(self.fb @ spec + 1e-6)',
    'logmel = (logmel - logmel.mean()) / (logmel.std() + 1e-5)',
    'return self.features(i), self.labels[i]',
    'def features(self, i):',
]
FAULT_CALLS = ['features', '__getitem__', 'stft', 'matmul', '__matmul__', 'log', 'abs', 'pow', '__pow__', 'std', 'mean']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(21)
SR = 22050


def mel_filters(n_fft=512, n_mels=48, sr=SR):
    to_mel = lambda f: 2595 * np.log10(1 + f / 700)
    pts = 700 * (10 ** (np.linspace(to_mel(50), to_mel(sr / 2), n_mels + 2) / 2595) - 1)
    freqs = np.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (freqs - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - freqs) / (pts[2:] - pts[1:-1])[:, None]
    return torch.from_numpy(np.maximum(0, np.minimum(up, down))).float()


def chirp(species):
    t = torch.arange(SR) / SR
    f0 = 1200 + 700 * species + 150 * torch.randn(1)
    env = torch.exp(-((t - torch.rand(1)) ** 2) / 0.02)
    return env * torch.sin(6.2832 * (f0 * t + 300 * torch.sin(6.2832 * (2 + species) * t))) + 0.2 * torch.randn(SR)


class BirdCalls(Dataset):
    def __init__(self, waves, labels):
        self.waves = waves
        self.labels = labels
        self.window = torch.hann_window(512)
        self.fb = mel_filters()

    def __len__(self):
        return len(self.labels)

    def features(self, i):
        spec = torch.stft(self.waves[i], 512, hop_length=128, window=self.window, return_complex=True)
        spec = spec.abs() ** 2
        logmel = torch.log(self.fb @ spec + 1e-6)
        logmel = (logmel - logmel.mean()) / (logmel.std() + 1e-5)
        return logmel.unsqueeze(0)

    def __getitem__(self, i):
        return self.features(i), self.labels[i]


labels = torch.randint(0, 5, (400,))
ds = BirdCalls([chirp(int(s)) for s in labels], labels)
loader = DataLoader(ds, batch_size=40, shuffle=True)

net = nn.Sequential(
    nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveMaxPool2d((4, 4)),
    nn.Flatten(), nn.Linear(256, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(12):
    total = correct = 0
    for spec, lab in loader:
        out = net(spec)
        loss = loss_fn(out, lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(lab)
        correct += (out.argmax(1) == lab).sum().item()
    if epoch % 3 == 2:
        print(f'epoch {epoch + 1:2d}  loss {total / len(ds):.3f}  acc {correct / len(ds):.3f}')
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(21)
SR = 22050


def mel_filters(n_fft=512, n_mels=48, sr=SR):
    to_mel = lambda f: 2595 * np.log10(1 + f / 700)
    pts = 700 * (10 ** (np.linspace(to_mel(50), to_mel(sr / 2), n_mels + 2) / 2595) - 1)
    freqs = np.linspace(0, sr / 2, n_fft // 2 + 1)
    up = (freqs - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - freqs) / (pts[2:] - pts[1:-1])[:, None]
    return torch.from_numpy(np.maximum(0, np.minimum(up, down))).float()


def chirp(species):
    t = torch.arange(SR) / SR
    f0 = 1200 + 700 * species + 150 * torch.randn(1)
    env = torch.exp(-((t - torch.rand(1)) ** 2) / 0.02)
    return env * torch.sin(6.2832 * (f0 * t + 300 * torch.sin(6.2832 * (2 + species) * t))) + 0.2 * torch.randn(SR)


class BirdCalls(Dataset):
    def __init__(self, waves, labels):
        self.waves = waves
        self.labels = labels
        self.window = torch.hann_window(512)
        self.fb = mel_filters()
        self.specs = [self.features(i) for i in range(len(waves))]

    def __len__(self):
        return len(self.labels)

    def features(self, i):
        spec = torch.stft(self.waves[i], 512, hop_length=128, window=self.window, return_complex=True)
        spec = spec.abs() ** 2
        logmel = torch.log(self.fb @ spec + 1e-6)
        logmel = (logmel - logmel.mean()) / (logmel.std() + 1e-5)
        return logmel.unsqueeze(0)

    def __getitem__(self, i):
        return self.specs[i], self.labels[i]


labels = torch.randint(0, 5, (400,))
ds = BirdCalls([chirp(int(s)) for s in labels], labels)
loader = DataLoader(ds, batch_size=40, shuffle=True)

net = nn.Sequential(
    nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveMaxPool2d((4, 4)),
    nn.Flatten(), nn.Linear(256, 5))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(12):
    total = correct = 0
    for spec, lab in loader:
        out = net(spec)
        loss = loss_fn(out, lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(lab)
        correct += (out.argmax(1) == lab).sum().item()
    if epoch % 3 == 2:
        print(f'epoch {epoch + 1:2d}  loss {total / len(ds):.3f}  acc {correct / len(ds):.3f}')
"""
