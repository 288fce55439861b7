NAME = 'd11_room_reverb'
FAULT = 'The room impulse response of many thousand taps is applied by direct convolution (conv1d) instead of in the frequency domain.'
CURE = 'Convolve through rfft/irfft of the zero-padded signals.'
KIND = 'time'
FAULT_LINES = (23, 31)
FAULT_CALLS = ('conv1d', 'add_reverb')
FAULTY = """\
import torch
import torch.nn.functional as F
import numpy as np

torch.manual_seed(3)
sr = 16000

def impulse_response(rt60, seconds=0.4):
    t = torch.arange(int(sr * seconds)) / sr
    tail = torch.randn(len(t)) * torch.exp(-6.9 * t / rt60)
    tail[0] = 1.0
    return tail / tail.norm()

def speech_like(n):
    t = torch.arange(n) / sr
    f0 = 90 + 80 * torch.rand(1)
    x = sum(torch.sin(2 * np.pi * f0 * k * t) / k for k in range(1, 9))
    env = F.interpolate(torch.rand(1, 1, 24), size=n, mode="linear")[0, 0]
    return x * env

def add_reverb(x, rir):
    k = rir.flip(0).view(1, 1, -1)
    y = F.conv1d(x.view(1, 1, -1), k, padding=len(rir) - 1)
    return y[0, 0, :len(x)]

clips = [speech_like(sr * 2) for _ in range(4)]
window = torch.hann_window(512)
feats = []
for x in clips:
    rir = impulse_response(rt60=0.3 + 0.5 * torch.rand(()).item())
    wet = add_reverb(x, rir)
    wet = wet / wet.abs().max()
    S = torch.stft(wet, 512, 160, window=window, return_complex=True).abs()
    feats.append(torch.log1p(S))

feats = torch.stack(feats)
print(feats.shape, "mean %.4f" % feats.mean(), "std %.4f" % feats.std())
"""
CURED = """\
import torch
import torch.nn.functional as F
import numpy as np

torch.manual_seed(3)
sr = 16000

def impulse_response(rt60, seconds=0.4):
    t = torch.arange(int(sr * seconds)) / sr
    tail = torch.randn(len(t)) * torch.exp(-6.9 * t / rt60)
    tail[0] = 1.0
    return tail / tail.norm()

def speech_like(n):
    t = torch.arange(n) / sr
    f0 = 90 + 80 * torch.rand(1)
    x = sum(torch.sin(2 * np.pi * f0 * k * t) / k for k in range(1, 9))
    env = F.interpolate(torch.rand(1, 1, 24), size=n, mode="linear")[0, 0]
    return x * env

def add_reverb(x, rir):
    n = 1 << (len(x) + len(rir) - 1).bit_length()
    y = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(rir, n), n)
    return y[:len(x)]

clips = [speech_like(sr * 2) for _ in range(4)]
window = torch.hann_window(512)
feats = []
for x in clips:
    rir = impulse_response(rt60=0.3 + 0.5 * torch.rand(()).item())
    wet = add_reverb(x, rir)
    wet = wet / wet.abs().max()
    S = torch.stft(wet, 512, 160, window=window, return_complex=True).abs()
    feats.append(torch.log1p(S))

feats = torch.stack(feats)
print(feats.shape, "mean %.4f" % feats.mean(), "std %.4f" % feats.std())
"""
