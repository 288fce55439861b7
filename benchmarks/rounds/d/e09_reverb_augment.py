NAME = 'e09_reverb_augment'

FAULT = 'Room reverberation is applied as a direct time-domain convolution with an impulse response of thousands of taps.'

CURE = 'Convolve through the FFT (rfft, multiply, irfft), which gives the same signal.'

KIND = 'time'

FAULT_LINES = [
    '    wet = F.conv1d(F.pad(wave.view(1, 1, -1), (len(rir) - 1, 0)), rir.flip(0).view(1, 1, -1))',
    '        wave = reverberate(wave, rooms[torch.randint(len(rooms), (1,)).item()])',
]

FAULT_CALLS = [
    'F.conv1d',
    'aten::conv1d',
    'aten::mkldnn_convolution',
    'reverberate',
]

FAULTY = r'''
import math
import torch
import torch.nn.functional as F

torch.manual_seed(13)
torch.set_num_threads(1)
SR = 16000


def make_room(seconds=0.4, rt60=0.3):
    """Exponentially decaying noise with a direct path."""
    n = int(seconds * SR)
    t = torch.arange(n) / SR
    rir = torch.randn(n) * torch.exp(-6.9 * t / rt60) * 0.1
    rir[0] = 1.0
    return rir / rir.norm()


def tone(kind, seconds=2.0):
    t = torch.arange(int(seconds * SR)) / SR
    f0 = {"siren": 600, "hum": 120, "beep": 1000, "chirp": 300}[kind] * (1 + 0.1 * torch.randn(1).item())
    if kind == "siren":
        f = f0 * (1 + 0.3 * torch.sin(2 * math.pi * 3 * t))
    elif kind == "chirp":
        f = f0 * (1 + 2 * t / seconds)
    else:
        f = torch.full_like(t, f0)
    w = torch.sin(2 * math.pi * torch.cumsum(f, 0) / SR)
    if kind == "beep":
        w = w * (torch.sin(2 * math.pi * 4 * t) > 0)
    return w + 0.05 * torch.randn_like(w)


def reverberate(wave, rir):
    wet = F.conv1d(F.pad(wave.view(1, 1, -1), (len(rir) - 1, 0)), rir.flip(0).view(1, 1, -1))
    wet = wet.view(-1)
    return wet * (wave.norm() / wet.norm().clamp_min(1e-6))


def log_spectrum(wave, n_fft=512, hop=256, bands=40):
    spec = torch.stft(wave, n_fft, hop, window=window, return_complex=True).abs().pow(2)
    spec = F.adaptive_avg_pool1d(spec.T.unsqueeze(0), bands).squeeze(0)
    return torch.log(spec + 1e-4)


window = torch.hann_window(512)
rooms = [make_room(rt60=0.15 + 0.05 * i) for i in range(6)]
kinds = ["siren", "hum", "beep", "chirp"]

feats, target = [], []
for i in range(110):
    wave = tone(kinds[i % 4])
    if i % 5:                                   # one in five stays dry
        wave = reverberate(wave, rooms[torch.randint(len(rooms), (1,)).item()])
    feats.append(log_spectrum(wave).mean(0))
    target.append(i % 4)

X, y = torch.stack(feats), torch.tensor(target)
X = (X - X.mean(0)) / X.std(0)
W = torch.zeros(40, 4, requires_grad=True)
opt = torch.optim.LBFGS([W], max_iter=40)


def closure():
    opt.zero_grad()
    loss = F.cross_entropy(X @ W, y) + 1e-3 * W.pow(2).sum()
    loss.backward()
    return loss


opt.step(closure)
print("feature checksum", round(torch.stack(feats).sum().item(), 1))
print("fit accuracy", ((X @ W).argmax(1) == y).float().mean().item())
'''

CURED = r'''
import math
import torch
import torch.nn.functional as F

torch.manual_seed(13)
torch.set_num_threads(1)
SR = 16000


def make_room(seconds=0.4, rt60=0.3):
    """Exponentially decaying noise with a direct path."""
    n = int(seconds * SR)
    t = torch.arange(n) / SR
    rir = torch.randn(n) * torch.exp(-6.9 * t / rt60) * 0.1
    rir[0] = 1.0
    return rir / rir.norm()


def tone(kind, seconds=2.0):
    t = torch.arange(int(seconds * SR)) / SR
    f0 = {"siren": 600, "hum": 120, "beep": 1000, "chirp": 300}[kind] * (1 + 0.1 * torch.randn(1).item())
    if kind == "siren":
        f = f0 * (1 + 0.3 * torch.sin(2 * math.pi * 3 * t))
    elif kind == "chirp":
        f = f0 * (1 + 2 * t / seconds)
    else:
        f = torch.full_like(t, f0)
    w = torch.sin(2 * math.pi * torch.cumsum(f, 0) / SR)
    if kind == "beep":
        w = w * (torch.sin(2 * math.pi * 4 * t) > 0)
    return w + 0.05 * torch.randn_like(w)


def reverberate(wave, rir):
    n = len(wave) + len(rir) - 1
    wet = torch.fft.irfft(torch.fft.rfft(wave, n) * torch.fft.rfft(rir, n), n)[: len(wave)]
    return wet * (wave.norm() / wet.norm().clamp_min(1e-6))


def log_spectrum(wave, n_fft=512, hop=256, bands=40):
    spec = torch.stft(wave, n_fft, hop, window=window, return_complex=True).abs().pow(2)
    spec = F.adaptive_avg_pool1d(spec.T.unsqueeze(0), bands).squeeze(0)
    return torch.log(spec + 1e-4)


window = torch.hann_window(512)
rooms = [make_room(rt60=0.15 + 0.05 * i) for i in range(6)]
kinds = ["siren", "hum", "beep", "chirp"]

feats, target = [], []
for i in range(110):
    wave = tone(kinds[i % 4])
    if i % 5:                                   # one in five stays dry
        wave = reverberate(wave, rooms[torch.randint(len(rooms), (1,)).item()])
    feats.append(log_spectrum(wave).mean(0))
    target.append(i % 4)

X, y = torch.stack(feats), torch.tensor(target)
X = (X - X.mean(0)) / X.std(0)
W = torch.zeros(40, 4, requires_grad=True)
opt = torch.optim.LBFGS([W], max_iter=40)


def closure():
    opt.zero_grad()
    loss = F.cross_entropy(X @ W, y) + 1e-3 * W.pow(2).sum()
    loss.backward()
    return loss


opt.step(closure)
print("feature checksum", round(torch.stack(feats).sum().item(), 1))
print("fit accuracy", ((X @ W).argmax(1) == y).float().mean().item())
'''
