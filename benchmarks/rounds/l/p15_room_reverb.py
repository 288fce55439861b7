NAME = 'Adds room reverberation to synthetic voices for data augmentation and takes log-mel features.'
FAULT = 'np.convolve does the convolution with a room response of 24,000 samples directly (n times m products) instead of by FFT.'
CURE = 'scipy.signal.fftconvolve in place of np.convolve.'
KIND = 'time'
FAULT_LINES = [
    'wet = np.convolve(dry, ir)[: len(dry)]',
    'wet = reverberate(dry, room_response(rt60))',
    'def reverberate(dry, ir):',
]
FAULT_CALLS = [
    'numpy.convolve',
    'np.convolve',
    'numpy.correlate',
    'multiarray.correlate',
    'reverberate',
]

FAULTY = r"""
import numpy as np
import scipy.signal
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(31)
sr = 16_000


def voice(seconds=6.0):
    t = np.arange(int(sr * seconds)) / sr
    f0 = 110 + 60 * rng.random() + 8 * np.sin(2 * np.pi * 5 * t)
    phase = 2 * np.pi * np.cumsum(f0) / sr
    src = sum(np.sin(k * phase) / k for k in range(1, 12))
    env = scipy.signal.sosfilt(scipy.signal.butter(2, 4, fs=sr, output="sos"), rng.random(len(t)) > 0.5)
    b, a = scipy.signal.iirpeak(400 + 1200 * rng.random(), 4, fs=sr)
    return (scipy.signal.lfilter(b, a, src) * env).astype(np.float32)


def room_response(rt60):
    n = int(1.5 * sr)
    decay = 10 ** (-3 * np.arange(n) / sr / rt60)
    ir = rng.standard_normal(n) * decay
    ir[0] = 6.0
    return (ir / np.abs(ir).sum() * 8).astype(np.float32)


def reverberate(dry, ir):
    wet = np.convolve(dry, ir)[: len(dry)]
    return wet / (np.abs(wet).max() + 1e-9)


def mel_bank(n_mels=64, n_fft=512):
    hz = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + sr / 2 / 700), n_mels + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(n_fft, 1 / sr)
    up = (bins[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - bins[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.from_numpy(np.maximum(0, np.minimum(up, down)).astype(np.float32))


mel = mel_bank()
win = torch.hann_window(512)


def log_mel(x):
    spec = torch.stft(torch.from_numpy(x), 512, hop_length=160, window=win, return_complex=True).abs().pow(2)
    return (mel @ spec + 1e-6).log()


feats, drr = [], []
for i in range(44):
    rt60 = rng.uniform(0.3, 1.2)
    dry = voice()
    wet = reverberate(dry, room_response(rt60))
    feats.append(log_mel(wet))
    drr.append(float(np.dot(dry, wet) / np.linalg.norm(dry) / np.linalg.norm(wet)))

feats = torch.stack(feats)
print(tuple(feats.shape), f"mean {feats.mean().item():.4f} std {feats.std().item():.4f} corr {np.mean(drr):.4f}")
"""

CURED = r"""
import numpy as np
import scipy.signal
import torch

torch.set_num_threads(1)
rng = np.random.default_rng(31)
sr = 16_000


def voice(seconds=6.0):
    t = np.arange(int(sr * seconds)) / sr
    f0 = 110 + 60 * rng.random() + 8 * np.sin(2 * np.pi * 5 * t)
    phase = 2 * np.pi * np.cumsum(f0) / sr
    src = sum(np.sin(k * phase) / k for k in range(1, 12))
    env = scipy.signal.sosfilt(scipy.signal.butter(2, 4, fs=sr, output="sos"), rng.random(len(t)) > 0.5)
    b, a = scipy.signal.iirpeak(400 + 1200 * rng.random(), 4, fs=sr)
    return (scipy.signal.lfilter(b, a, src) * env).astype(np.float32)


def room_response(rt60):
    n = int(1.5 * sr)
    decay = 10 ** (-3 * np.arange(n) / sr / rt60)
    ir = rng.standard_normal(n) * decay
    ir[0] = 6.0
    return (ir / np.abs(ir).sum() * 8).astype(np.float32)


def reverberate(dry, ir):
    wet = scipy.signal.fftconvolve(dry, ir)[: len(dry)]
    return wet / (np.abs(wet).max() + 1e-9)


def mel_bank(n_mels=64, n_fft=512):
    hz = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + sr / 2 / 700), n_mels + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(n_fft, 1 / sr)
    up = (bins[None] - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
    down = (hz[2:, None] - bins[None]) / (hz[2:] - hz[1:-1])[:, None]
    return torch.from_numpy(np.maximum(0, np.minimum(up, down)).astype(np.float32))


mel = mel_bank()
win = torch.hann_window(512)


def log_mel(x):
    spec = torch.stft(torch.from_numpy(x), 512, hop_length=160, window=win, return_complex=True).abs().pow(2)
    return (mel @ spec + 1e-6).log()


feats, drr = [], []
for i in range(44):
    rt60 = rng.uniform(0.3, 1.2)
    dry = voice()
    wet = reverberate(dry, room_response(rt60))
    feats.append(log_mel(wet))
    drr.append(float(np.dot(dry, wet) / np.linalg.norm(dry) / np.linalg.norm(wet)))

feats = torch.stack(feats)
print(tuple(feats.shape), f"mean {feats.mean().item():.4f} std {feats.std().item():.4f} corr {np.mean(drr):.4f}")
"""
