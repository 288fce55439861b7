NAME = 'Trains a siren detector on short recordings with random gain, shift and street noise added on the fly.'
FAULT = None
CURE = None
KIND = None
WHY = 'The spectrogram of every clip is computed again in each epoch inside __getitem__, but the waveform is augmented at random before it, so it cannot be stored, and it is cheap beside the network.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(101)

SR, SECONDS, KINDS = 8000, 1.5, 4
SAMPLES = int(SR * SECONDS)


def siren(kind):
    t = torch.arange(SAMPLES) / SR
    rate = (0.7, 1.5, 3.0, 6.0)[kind] * (1 + 0.1 * torch.randn(()).item())
    sweep = torch.sin(2 * math.pi * rate * t + 6.28 * torch.rand(()).item())
    pitch = 900 + 350 * (sweep.sign() if kind % 2 else sweep)
    return torch.sin(2 * math.pi * torch.cumsum(pitch / SR, 0))


def street(n):
    noise = torch.randn(n, SAMPLES)
    kernel = torch.exp(-torch.arange(13.0) / 4).view(1, 1, -1)
    noise = F.conv1d(noise.unsqueeze(1), kernel, padding="same").squeeze(1)
    return noise / noise.std(1, keepdim=True)


class Sirens(Dataset):
    def __init__(self, n, noises, augment):
        self.kinds = torch.randint(0, KINDS, (n,)).tolist()
        self.clips = torch.stack([siren(k) for k in self.kinds])
        self.noises, self.augment = noises, augment
        self.window = torch.hann_window(256)

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, i):
        wave, snr = self.clips[i], 3.0
        noise = self.noises[i % len(self.noises)]
        if self.augment:
            wave = wave.roll(int(torch.randint(SAMPLES, ())))
            noise = self.noises[int(torch.randint(len(self.noises), ()))]
            snr = float(torch.empty(()).uniform_(-3, 9))
        wave = wave + noise * 10 ** (-snr / 20)
        spec = torch.stft(wave, 256, 128, window=self.window, return_complex=True)
        return torch.log(spec.abs() + 1e-3).unsqueeze(0), self.kinds[i]


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))


noises = street(300)
train_loader = DataLoader(Sirens(440, noises, True), batch_size=20, shuffle=True)
test_loader = DataLoader(Sirens(150, noises, False), batch_size=50)
model = nn.Sequential(block(1, 16), block(16, 32), block(32, 64), nn.AdaptiveAvgPool2d((1, 4)), nn.Flatten(), nn.Linear(256, KINDS))
model = model.to(memory_format=torch.channels_last)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)

for epoch in range(4):
    model.train()
    running = 0.0
    for spec, kind in train_loader:
        loss = F.cross_entropy(model(spec), kind)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(spec).argmax(1) == kind).sum().item() for spec, kind in test_loader)
    print(f"epoch {epoch}  loss {running / len(train_loader):.3f}  test acc {hits / 150:.3f}")
'''
