NAME = 'h06_reverb_keywords'
FAULT = 'Room reverberation is applied as a direct time-domain convolution (F.conv1d) with a 6000-tap impulse response, O(n*k) per clip.'
CURE = 'Convolve by FFT (torch.fft.rfft / irfft with enough zero padding).'
KIND = 'time'
FAULT_LINES = [
    '    wet = F.conv1d(F.pad(wave, (len(rir) - 1, 0)).view(1, 1, -1), rir.flip(0).view(1, 1, -1))',
]
FAULT_CALLS = ['aten::conv1d', 'aten::convolution', 'torch.nn.functional.conv1d', 'aten::mkldnn_convolution', 'aten::slow_conv2d_forward', 'aten::_slow_conv2d_forward']
FAULTY = r'''
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)
random.seed(1)

SR, CLIP = 16000, 16000
WORDS = ['left', 'right', 'stop', 'go']

def synth_word(label):
    t = torch.arange(CLIP) / SR
    f0 = 220 + 90 * label + random.uniform(-15, 15)
    sweep = f0 * (1 + 0.3 * label * t)
    env = torch.exp(-((t - 0.45) ** 2) / 0.02)
    wave = env * (torch.sin(2 * math.pi * sweep * t) + 0.4 * torch.sin(4 * math.pi * sweep * t))
    return wave + 0.01 * torch.randn(CLIP)

def make_rir(rt60):
    n = 6000
    decay = torch.exp(-6.9 * torch.arange(n) / (rt60 * SR))
    rir = torch.randn(n) * decay * 0.15
    rir[0] = 1.0
    return rir

rirs = [make_rir(random.uniform(0.15, 0.4)) for _ in range(24)]
window = torch.hann_window(400)

def mel_matrix(n_freq=201, n_mels=40):
    hz = torch.linspace(0, SR / 2, n_freq)
    mel = 2595 * torch.log10(1 + hz / 700)
    centers = torch.linspace(0, mel[-1].item(), n_mels + 2)
    up = (mel[:, None] - centers[:-2]) / (centers[1:-1] - centers[:-2])
    down = (centers[2:] - mel[:, None]) / (centers[2:] - centers[1:-1])
    return torch.minimum(up, down).clamp(min=0)

mel_fb = mel_matrix()

def add_room(wave, rir):
    wet = F.conv1d(F.pad(wave, (len(rir) - 1, 0)).view(1, 1, -1), rir.flip(0).view(1, 1, -1))
    wet = wet.view(-1)
    return wet / wet.abs().max().clamp(min=1e-5)

def features(waves):
    spec = torch.stft(waves, 400, hop_length=160, window=window, return_complex=True).abs() ** 2
    mel = torch.einsum('bft,fm->bmt', spec, mel_fb)
    return torch.log(mel + 1e-6)

dry = [(synth_word(i % 4), i % 4) for i in range(96)]

net = nn.Sequential(nn.Conv1d(40, 48, 5, stride=2), nn.BatchNorm1d(48), nn.ReLU(),
                    nn.Conv1d(48, 48, 5, stride=2), nn.BatchNorm1d(48), nn.ReLU(),
                    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(48, len(WORDS)))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)

for epoch in range(4):
    random.shuffle(dry)
    losses, hits = [], 0
    for start in range(0, len(dry), 16):
        part = dry[start:start + 16]
        waves = torch.stack([add_room(w, random.choice(rirs)) for w, _ in part])
        target = torch.tensor([l for _, l in part])
        logits = net(features(waves))
        loss = F.cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        hits += (logits.argmax(1) == target).sum().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, acc {hits / len(dry):.2f}")
'''
CURED = r'''
import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)
random.seed(1)

SR, CLIP = 16000, 16000
WORDS = ['left', 'right', 'stop', 'go']

def synth_word(label):
    t = torch.arange(CLIP) / SR
    f0 = 220 + 90 * label + random.uniform(-15, 15)
    sweep = f0 * (1 + 0.3 * label * t)
    env = torch.exp(-((t - 0.45) ** 2) / 0.02)
    wave = env * (torch.sin(2 * math.pi * sweep * t) + 0.4 * torch.sin(4 * math.pi * sweep * t))
    return wave + 0.01 * torch.randn(CLIP)

def make_rir(rt60):
    n = 6000
    decay = torch.exp(-6.9 * torch.arange(n) / (rt60 * SR))
    rir = torch.randn(n) * decay * 0.15
    rir[0] = 1.0
    return rir

rirs = [make_rir(random.uniform(0.15, 0.4)) for _ in range(24)]
window = torch.hann_window(400)

def mel_matrix(n_freq=201, n_mels=40):
    hz = torch.linspace(0, SR / 2, n_freq)
    mel = 2595 * torch.log10(1 + hz / 700)
    centers = torch.linspace(0, mel[-1].item(), n_mels + 2)
    up = (mel[:, None] - centers[:-2]) / (centers[1:-1] - centers[:-2])
    down = (centers[2:] - mel[:, None]) / (centers[2:] - centers[1:-1])
    return torch.minimum(up, down).clamp(min=0)

mel_fb = mel_matrix()

def add_room(wave, rir):
    n = 1 << (len(wave) + len(rir) - 2).bit_length()
    wet = torch.fft.irfft(torch.fft.rfft(wave, n) * torch.fft.rfft(rir, n), n)[:len(wave)]
    return wet / wet.abs().max().clamp(min=1e-5)

def features(waves):
    spec = torch.stft(waves, 400, hop_length=160, window=window, return_complex=True).abs() ** 2
    mel = torch.einsum('bft,fm->bmt', spec, mel_fb)
    return torch.log(mel + 1e-6)

dry = [(synth_word(i % 4), i % 4) for i in range(96)]

net = nn.Sequential(nn.Conv1d(40, 48, 5, stride=2), nn.BatchNorm1d(48), nn.ReLU(),
                    nn.Conv1d(48, 48, 5, stride=2), nn.BatchNorm1d(48), nn.ReLU(),
                    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(48, len(WORDS)))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)

for epoch in range(4):
    random.shuffle(dry)
    losses, hits = [], 0
    for start in range(0, len(dry), 16):
        part = dry[start:start + 16]
        waves = torch.stack([add_room(w, random.choice(rirs)) for w, _ in part])
        target = torch.tensor([l for _, l in part])
        logits = net(features(waves))
        loss = F.cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        hits += (logits.argmax(1) == target).sum().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, acc {hits / len(dry):.2f}")
'''
