NAME = 'Computes log-mel features of made-up keyword recordings and trains a small convolutional keyword spotter on them.'
FAULT = 'The mel filterbank, which never changes, is built element by element again for every recording.'
CURE = 'Build the mel filterbank once and pass it to the feature function.'
KIND = 'time'
FAULT_LINES = ['fbank = mel_filterbank()', 'bank[m, k] = (k - left) / (centre - left)', 'bank[m, k] = (right - k) / (right - centre)', 'return torch.log(fbank @ power + 1e-6)']
FAULT_CALLS = ['mel_filterbank', '__setitem__']
FAULTY = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

SR, N_FFT, HOP, N_MELS, WORDS = 16000, 1024, 256, 48, 8
window = torch.hann_window(N_FFT)


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(fmin=40.0, fmax=7600.0):
    lo, hi = hz_to_mel(fmin), hz_to_mel(fmax)
    hz = [mel_to_hz(lo + (hi - lo) * i / (N_MELS + 1)) for i in range(N_MELS + 2)]
    bins = [round((N_FFT + 1) * f / SR) for f in hz]
    bank = torch.zeros(N_MELS, N_FFT // 2 + 1)
    for m in range(N_MELS):
        left, centre, right = bins[m], bins[m + 1], bins[m + 2]
        for k in range(left, centre):
            bank[m, k] = (k - left) / (centre - left)
        for k in range(centre, right):
            bank[m, k] = (right - k) / (right - centre)
    return bank


def log_mel(wave):
    fbank = mel_filterbank()
    spec = torch.stft(wave, N_FFT, HOP, window=window, return_complex=True)
    power = spec.real.square() + spec.imag.square()
    return torch.log(fbank @ power + 1e-6)


def record(word):
    seconds = 1.0 + 0.8 * torch.rand(()).item()
    t = torch.arange(int(SR * seconds)) / SR
    base = 180.0 * 2 ** (word / 4)
    sweep = base * t + 40.0 * (word % 3) * t ** 2
    tone = sum(torch.sin(2 * math.pi * h * sweep) / h for h in (1, 2, 3))
    envelope = torch.exp(-((t - 0.5 * seconds) / 0.3) ** 2)
    return tone * envelope + 0.8 * torch.randn(len(t))


def fixed_width(feat, frames=72):
    if feat.shape[1] >= frames:
        start = (feat.shape[1] - frames) // 2
        return feat[:, start:start + frames]
    return F.pad(feat, (0, frames - feat.shape[1]), value=feat.min().item())


labels = torch.randint(0, WORDS, (2000,))
features = torch.stack([fixed_width(log_mel(record(w))) for w in labels.tolist()]).unsqueeze(1)
features = (features - features.mean()) / features.std()
print("features", tuple(features.shape))

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d((4, 1)), nn.Flatten(),
    nn.Linear(128, WORDS))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
train, test = torch.arange(1700), torch.arange(1700, 2000)
for epoch in range(3):
    for batch in train[torch.randperm(len(train))].split(40):
        loss = F.cross_entropy(model(features[batch]), labels[batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(features[test]).argmax(1) == labels[test]).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  test acc {acc:.3f}")
'''
CURED = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

SR, N_FFT, HOP, N_MELS, WORDS = 16000, 1024, 256, 48, 8
window = torch.hann_window(N_FFT)


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(fmin=40.0, fmax=7600.0):
    lo, hi = hz_to_mel(fmin), hz_to_mel(fmax)
    hz = [mel_to_hz(lo + (hi - lo) * i / (N_MELS + 1)) for i in range(N_MELS + 2)]
    bins = [round((N_FFT + 1) * f / SR) for f in hz]
    bank = torch.zeros(N_MELS, N_FFT // 2 + 1)
    for m in range(N_MELS):
        left, centre, right = bins[m], bins[m + 1], bins[m + 2]
        for k in range(left, centre):
            bank[m, k] = (k - left) / (centre - left)
        for k in range(centre, right):
            bank[m, k] = (right - k) / (right - centre)
    return bank


def log_mel(wave, fbank):
    spec = torch.stft(wave, N_FFT, HOP, window=window, return_complex=True)
    power = spec.real.square() + spec.imag.square()
    return torch.log(fbank @ power + 1e-6)


def record(word):
    seconds = 1.0 + 0.8 * torch.rand(()).item()
    t = torch.arange(int(SR * seconds)) / SR
    base = 180.0 * 2 ** (word / 4)
    sweep = base * t + 40.0 * (word % 3) * t ** 2
    tone = sum(torch.sin(2 * math.pi * h * sweep) / h for h in (1, 2, 3))
    envelope = torch.exp(-((t - 0.5 * seconds) / 0.3) ** 2)
    return tone * envelope + 0.8 * torch.randn(len(t))


def fixed_width(feat, frames=72):
    if feat.shape[1] >= frames:
        start = (feat.shape[1] - frames) // 2
        return feat[:, start:start + frames]
    return F.pad(feat, (0, frames - feat.shape[1]), value=feat.min().item())


labels = torch.randint(0, WORDS, (2000,))
fbank = mel_filterbank()
features = torch.stack([fixed_width(log_mel(record(w), fbank)) for w in labels.tolist()]).unsqueeze(1)
features = (features - features.mean()) / features.std()
print("features", tuple(features.shape))

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d((4, 1)), nn.Flatten(),
    nn.Linear(128, WORDS))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
train, test = torch.arange(1700), torch.arange(1700, 2000)
for epoch in range(3):
    for batch in train[torch.randperm(len(train))].split(40):
        loss = F.cross_entropy(model(features[batch]), labels[batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(features[test]).argmax(1) == labels[test]).float().mean().item()
    print(f"epoch {epoch}  loss {loss.item():.3f}  test acc {acc:.3f}")
'''
