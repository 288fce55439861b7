NAME = "Trains a mask network that denoises synthetic speech-like audio, with mixtures made anew for each batch."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The STFT is computed again in each step instead of once for the data set, and the inverse STFT is run on each output: crop, noise and level of each mixture are drawn anew every step, so there is nothing to cache, and the loss is on the waveform."
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)

SR, CLIP, NFFT, HOP = 8000, 8000, 256, 64
WIN = torch.hann_window(NFFT)


def voiced_clip(seconds=3.0):
    """Harmonic sound with a gliding pitch, slow formant-like weights and syllable envelope."""
    n = int(SR * seconds)
    t = torch.arange(n) / SR
    f0 = 110 + 60 * torch.rand(1) + 15 * torch.sin(2 * math.pi * (0.4 + torch.rand(1)) * t)
    phase = torch.cumsum(2 * math.pi * f0 / SR, 0)
    amps = torch.rand(10) / torch.arange(1, 11)
    s = (amps[:, None] * torch.sin(torch.arange(1, 11)[:, None] * phase)).sum(0)
    env = torch.relu(torch.sin(2 * math.pi * (2 + torch.rand(1)) * t + 6 * torch.rand(1)))
    s = s * env
    return s / s.std()


def noise_clip(seconds=6.0):
    n = int(SR * seconds)
    spec = torch.fft.rfft(torch.randn(n))
    f = torch.linspace(0, 1, len(spec))
    tilt = 1.0 / (0.05 + f) ** (0.2 + 0.5 * torch.rand(1))
    s = torch.fft.irfft(spec * tilt, n=n)
    return s / s.std()


class Corpus:
    def __init__(self, n_speech=80, n_noise=20):
        self.speech = torch.stack([voiced_clip() for _ in range(n_speech)])
        self.noise = torch.stack([noise_clip() for _ in range(n_noise)])

    @staticmethod
    def _crops(bank, n):
        rows = torch.randint(0, len(bank), (n, 1))
        start = torch.randint(0, bank.shape[1] - CLIP, (n, 1))
        return bank[rows, start + torch.arange(CLIP)]

    def mixtures(self, n):
        clean = self._crops(self.speech, n)
        snr_db = torch.empty(n, 1).uniform_(-3, 9)
        noise = self._crops(self.noise, n) * 10 ** (-snr_db / 20)
        return clean + noise, clean


class MaskNet(nn.Module):
    def __init__(self, bins=NFFT // 2 + 1, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(bins, width, 3, padding=1), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=2, dilation=2), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=4, dilation=4), nn.ReLU(),
            nn.Conv1d(width, bins, 1), nn.Sigmoid())

    def forward(self, wave):
        spec = torch.stft(wave, NFFT, HOP, window=WIN, return_complex=True)
        mask = self.net(torch.log1p(spec.abs()))
        return torch.istft(spec * mask, NFFT, HOP, window=WIN, length=wave.shape[1])


def si_sdr(est, ref):
    proj = (est * ref).sum(1, keepdim=True) / (ref * ref).sum(1, keepdim=True) * ref
    return 10 * torch.log10(proj.pow(2).sum(1) / (est - proj).pow(2).sum(1) + 1e-8)


train, held = Corpus(), Corpus(16, 8)
model = MaskNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1, 181):
    noisy, clean = train.mixtures(16)
    loss = -si_sdr(model(noisy), clean).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 45 == 0:
        print(f"step {step:3d}  batch SI-SDR {-loss.item():.2f} dB")

with torch.no_grad():
    noisy, clean = held.mixtures(64)
    before, after = si_sdr(noisy, clean).mean(), si_sdr(model(noisy), clean).mean()
print(f"held-out SI-SDR {before.item():.2f} -> {after.item():.2f} dB")
'''
