NAME = 'Trains a keyword spotter on log-mel features of synthetic noisy words.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'STFT and log-mel are recomputed for every batch of every epoch rather than cached; each epoch sees freshly shifted, scaled and noised waveforms, so cached features would drop the augmentation and change the results.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)
np.random.seed(8)

SR = 8000
DUR = SR                     # one second
N_FFT, HOP, N_MELS = 400, 160, 40
WORDS = 5


def mel_matrix(n_mels=N_MELS, n_bins=N_FFT // 2 + 1):
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    inv = lambda m: 700 * (10 ** (m / 2595) - 1)
    pts = inv(np.linspace(mel(60), mel(SR / 2), n_mels + 2))
    freqs = np.linspace(0, SR / 2, n_bins)
    up = (freqs[None] - pts[:-2, None]) / (pts[1:-1] - pts[:-2])[:, None]
    down = (pts[2:, None] - freqs[None]) / (pts[2:] - pts[1:-1])[:, None]
    return torch.tensor(np.clip(np.minimum(up, down), 0, None), dtype=torch.float32)


def synth(n):
    y = torch.randint(0, WORDS, (n,))
    t = torch.arange(DUR) / SR
    f0 = 110 + 90 * torch.rand(n, 1)
    sweep = (y.float().unsqueeze(1) - 2) * 160
    f1 = 500 + 80 * y.float().unsqueeze(1)
    phase = 2 * math.pi * (f1 * t + 0.5 * sweep * t ** 2)
    env = torch.exp(-((t - 0.5) / 0.18) ** 2)
    wave = env * (torch.sin(phase) + 0.6 * torch.sin(2 * math.pi * f0 * t))
    return wave, y


class LogMel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('window', torch.hann_window(N_FFT))
        self.register_buffer('mel', mel_matrix())

    def forward(self, wave):
        spec = torch.stft(wave, N_FFT, HOP, window=self.window, return_complex=True)
        power = spec.real.square() + spec.imag.square()
        return torch.log(self.mel @ power + 1e-4)


def corrupt(wave):
    '''random start, gain and background noise'''
    shift = torch.randint(-1600, 1600, (len(wave),)).tolist()
    wave = torch.stack([w.roll(s) for w, s in zip(wave, shift)])
    gain = 0.4 + torch.rand(len(wave), 1)
    return gain * wave + 1.1 * torch.randn_like(wave)


class WordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(N_MELS, 96, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(96, 96, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.out = nn.Linear(96, WORDS)

    def forward(self, feats):
        return self.out(self.net(feats).squeeze(-1))


train_w, train_y = synth(600)
test_w, test_y = synth(300)
test_w = corrupt(test_w)

logmel, net = LogMel(), WordNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
with torch.no_grad():
    test_f = logmel(test_w)
    center, spread = logmel(corrupt(train_w)).mean(), 2.0

for epoch in range(32):
    net.train()
    for idx in torch.randperm(len(train_w)).split(50):
        with torch.no_grad():
            feats = (logmel(corrupt(train_w[idx])) - center) / spread
        loss = F.cross_entropy(net(feats), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net((test_f - center) / spread).argmax(1) == test_y).float().mean().item()
    if epoch % 10 == 0:
        print(f'epoch {epoch}  loss {loss.item():.3f}  accuracy on noisy clips {acc:.3f}')
"""
