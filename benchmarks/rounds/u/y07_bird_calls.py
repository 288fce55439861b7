NAME = 'Finds the call in each of many long field recordings, keeps a short snippet around it and trains a spectrogram classifier on the snippets.'
FAULT = 'Each kept snippet is a view of its whole recording, so that all the recordings stay in memory as long as the snippets do.'
CURE = 'Clone the snippet before it is kept.'
KIND = 'memory'
FAULT_LINES = ['snippet = wave[start:start + SNIP]', 'self.items.append((snippet, label))']
FAULT_CALLS = ['append', '__init__', 'CallSnippets.__init__', 'field_recordings', '__getitem__']

FAULTY = r'''
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(31)

RATE, SECONDS, SNIP, HOP = 16_000, 24, 12_000, 400
SPECIES = [(2200.0, 14.0), (3100.0, 9.0), (2600.0, 22.0)]


def field_recordings(n, seed):
    """Yields (waveform, label): background hiss, a low hum and one frequency-modulated call."""
    gen = torch.Generator().manual_seed(seed)
    total = RATE * SECONDS
    t = torch.arange(SNIP) / RATE
    for i in range(n):
        label = i % len(SPECIES)
        wave = torch.randn(total, generator=gen).mul_(0.05)
        carrier, flutter = SPECIES[label]
        shift = 1 + 0.08 * (torch.rand(1, generator=gen).item() - 0.5)
        phase = 2 * math.pi * carrier * shift * t + 30 * torch.sin(2 * math.pi * flutter * t)
        call = torch.hann_window(SNIP) * torch.sin(phase)
        at = int(torch.randint(0, total - SNIP, (1,), generator=gen))
        wave[at:at + SNIP] += (0.09 + 0.12 * torch.rand(1, generator=gen)) * call
        yield wave, label


def locate(wave):
    """Start of the loudest stretch of SNIP samples, on a grid of HOP samples."""
    energy = wave.view(-1, HOP).square().sum(1)
    run = energy.cumsum(0)
    width = SNIP // HOP
    score = run[width:] - run[:-width]
    return (int(score.argmax()) + 1) * HOP


class CallSnippets(Dataset):
    def __init__(self, n, seed):
        self.items = []
        for wave, label in field_recordings(n, seed):
            start = min(locate(wave), wave.numel() - SNIP)
            snippet = wave[start:start + SNIP]
            self.items.append((snippet, label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(512))
        self.conv1 = nn.Conv2d(1, 12, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.head = nn.Linear(24 * 8, len(SPECIES))

    def forward(self, wave):
        spec = torch.stft(wave, 512, hop_length=256, window=self.window, return_complex=True)
        x = torch.log1p(20 * spec.abs())[:, None, 32:160]
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.adaptive_avg_pool2d(x, (8, 1))
        return self.head(x.flatten(1))


train_set = CallSnippets(480, seed=1)
test_set = CallSnippets(90, seed=2)
train = DataLoader(train_set, batch_size=30, shuffle=True)
test = DataLoader(test_set, batch_size=45)

net = CallNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    total = 0.0
    for wave, label in train:
        shift = int(torch.randint(-2000, 2000, (1,)))
        level = 0.6 + 0.8 * torch.rand(len(wave), 1)
        loss = F.cross_entropy(net(wave.roll(shift, dims=1) * level), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}")

with torch.no_grad():
    hits = sum((net(wave).argmax(1) == label).sum().item() for wave, label in test)
print("snippets:", len(train_set), "test accuracy:", round(hits / len(test_set), 3))
'''

CURED = r'''
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(31)

RATE, SECONDS, SNIP, HOP = 16_000, 24, 12_000, 400
SPECIES = [(2200.0, 14.0), (3100.0, 9.0), (2600.0, 22.0)]


def field_recordings(n, seed):
    """Yields (waveform, label): background hiss, a low hum and one frequency-modulated call."""
    gen = torch.Generator().manual_seed(seed)
    total = RATE * SECONDS
    t = torch.arange(SNIP) / RATE
    for i in range(n):
        label = i % len(SPECIES)
        wave = torch.randn(total, generator=gen).mul_(0.05)
        carrier, flutter = SPECIES[label]
        shift = 1 + 0.08 * (torch.rand(1, generator=gen).item() - 0.5)
        phase = 2 * math.pi * carrier * shift * t + 30 * torch.sin(2 * math.pi * flutter * t)
        call = torch.hann_window(SNIP) * torch.sin(phase)
        at = int(torch.randint(0, total - SNIP, (1,), generator=gen))
        wave[at:at + SNIP] += (0.09 + 0.12 * torch.rand(1, generator=gen)) * call
        yield wave, label


def locate(wave):
    """Start of the loudest stretch of SNIP samples, on a grid of HOP samples."""
    energy = wave.view(-1, HOP).square().sum(1)
    run = energy.cumsum(0)
    width = SNIP // HOP
    score = run[width:] - run[:-width]
    return (int(score.argmax()) + 1) * HOP


class CallSnippets(Dataset):
    def __init__(self, n, seed):
        self.items = []
        for wave, label in field_recordings(n, seed):
            start = min(locate(wave), wave.numel() - SNIP)
            snippet = wave[start:start + SNIP].clone()
            self.items.append((snippet, label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(512))
        self.conv1 = nn.Conv2d(1, 12, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.head = nn.Linear(24 * 8, len(SPECIES))

    def forward(self, wave):
        spec = torch.stft(wave, 512, hop_length=256, window=self.window, return_complex=True)
        x = torch.log1p(20 * spec.abs())[:, None, 32:160]
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.adaptive_avg_pool2d(x, (8, 1))
        return self.head(x.flatten(1))


train_set = CallSnippets(480, seed=1)
test_set = CallSnippets(90, seed=2)
train = DataLoader(train_set, batch_size=30, shuffle=True)
test = DataLoader(test_set, batch_size=45)

net = CallNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    total = 0.0
    for wave, label in train:
        shift = int(torch.randint(-2000, 2000, (1,)))
        level = 0.6 + 0.8 * torch.rand(len(wave), 1)
        loss = F.cross_entropy(net(wave.roll(shift, dims=1) * level), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}")

with torch.no_grad():
    hits = sum((net(wave).argmax(1) == label).sum().item() for wave, label in test)
print("snippets:", len(train_set), "test accuracy:", round(hits / len(test_set), 3))
'''
