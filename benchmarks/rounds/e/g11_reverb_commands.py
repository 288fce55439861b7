NAME = 'g11_reverb_commands'
FAULT = 'The room responses of several thousand taps are applied with np.convolve, the direct sum, which takes length times length operations.'
CURE = 'Convolve by FFT (scipy.signal.fftconvolve).'
KIND = 'time'
FAULT_LINES = [
    '    wet = np.convolve(wave, rir)[:len(wave)]',
    '    views = [reverb(w, rirs[rng.integers(len(rirs))]) for w in waves]',
]
FAULT_CALLS = ['numpy.convolve', 'numpy.correlate', 'reverb']

FAULTY = r'''
import numpy as np
import torch
from torch import nn
from scipy import signal

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)
SR = 16_000

def tone_word(kind):
    """one second: rising, falling or trembling tone, plus hiss"""
    t = np.arange(SR) / SR
    f0 = rng.uniform(250, 600)
    if kind == 0:
        f = f0 * (1 + 0.8 * t)
    elif kind == 1:
        f = f0 * (1.8 - 0.8 * t)
    else:
        f = f0 * (1.3 + 0.25 * np.sin(2 * np.pi * 6 * t))
    env = signal.windows.tukey(SR, 0.3)
    return env * np.sin(2 * np.pi * np.cumsum(f) / SR) + 0.05 * rng.normal(size=SR)

def room(rt60):
    n = int(rt60 * SR)
    h = rng.normal(size=n) * 10 ** (-3 * np.arange(n) / n)
    h[0] = 6.0
    return h / np.linalg.norm(h)

def reverb(wave, rir):
    wet = np.convolve(wave, rir)[:len(wave)]
    return (wet / np.abs(wet).max()).astype(np.float32)

kinds = rng.integers(0, 3, 100)
waves = [tone_word(k) for k in kinds]
rirs = [room(r) for r in rng.uniform(0.2, 0.5, 12)]
labels = torch.from_numpy(kinds)

window = torch.hann_window(512)
def logspec(batch):
    s = torch.stft(batch, 512, hop_length=160, window=window, return_complex=True)
    return torch.log1p(s.abs()[:, :96])

net = nn.Sequential(
    nn.Conv1d(96, 64, 5, stride=2), nn.ReLU(),
    nn.Conv1d(64, 64, 5, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(6), nn.Flatten(), nn.Linear(384, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
n_train = 80
for epoch in range(4):
    # fresh rooms for everybody in each epoch
    views = [reverb(w, rirs[rng.integers(len(rirs))]) for w in waves]
    spec = logspec(torch.from_numpy(np.stack(views)))
    for b in torch.randperm(n_train).split(16):
        loss = nn.functional.cross_entropy(net(spec[b]), labels[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        hit = (net(spec[n_train:]).argmax(1) == labels[n_train:]).float().mean().item()
    print("epoch", epoch, "loss %.3f" % loss.item(), "held out %.2f" % hit)
'''

CURED = r'''
import numpy as np
import torch
from torch import nn
from scipy import signal

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)
SR = 16_000

def tone_word(kind):
    """one second: rising, falling or trembling tone, plus hiss"""
    t = np.arange(SR) / SR
    f0 = rng.uniform(250, 600)
    if kind == 0:
        f = f0 * (1 + 0.8 * t)
    elif kind == 1:
        f = f0 * (1.8 - 0.8 * t)
    else:
        f = f0 * (1.3 + 0.25 * np.sin(2 * np.pi * 6 * t))
    env = signal.windows.tukey(SR, 0.3)
    return env * np.sin(2 * np.pi * np.cumsum(f) / SR) + 0.05 * rng.normal(size=SR)

def room(rt60):
    n = int(rt60 * SR)
    h = rng.normal(size=n) * 10 ** (-3 * np.arange(n) / n)
    h[0] = 6.0
    return h / np.linalg.norm(h)

def reverb(wave, rir):
    wet = signal.fftconvolve(wave, rir)[:len(wave)]
    return (wet / np.abs(wet).max()).astype(np.float32)

kinds = rng.integers(0, 3, 100)
waves = [tone_word(k) for k in kinds]
rirs = [room(r) for r in rng.uniform(0.2, 0.5, 12)]
labels = torch.from_numpy(kinds)

window = torch.hann_window(512)
def logspec(batch):
    s = torch.stft(batch, 512, hop_length=160, window=window, return_complex=True)
    return torch.log1p(s.abs()[:, :96])

net = nn.Sequential(
    nn.Conv1d(96, 64, 5, stride=2), nn.ReLU(),
    nn.Conv1d(64, 64, 5, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(6), nn.Flatten(), nn.Linear(384, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
n_train = 80
for epoch in range(4):
    # fresh rooms for everybody in each epoch
    views = [reverb(w, rirs[rng.integers(len(rirs))]) for w in waves]
    spec = logspec(torch.from_numpy(np.stack(views)))
    for b in torch.randperm(n_train).split(16):
        loss = nn.functional.cross_entropy(net(spec[b]), labels[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        hit = (net(spec[n_train:]).argmax(1) == labels[n_train:]).float().mean().item()
    print("epoch", epoch, "loss %.3f" % loss.item(), "held out %.2f" % hit)
'''
