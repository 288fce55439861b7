NAME = "Trains a spectral-mask speech denoiser with random crops, gains and noise levels."
FAULT = None
CURE = None
KIND = None
LOOKS = "Mixing, cropping and two STFTs for each batch in the training loop look like preprocessing repeated each epoch; crops, noise and levels are drawn anew each time, so nothing can be stored, and they cost little beside the network."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2024)

SR, N_FFT, HOP = 8000, 256, 128
CROP = SR


def fake_voices(n, seconds=4):
    t = torch.arange(SR * seconds) / SR
    f0 = 90 + 130 * torch.rand(n, 1)
    vib = 1 + 0.02 * torch.sin(2 * math.pi * 5 * t + 6 * torch.rand(n, 1))
    phase = 2 * math.pi * torch.cumsum(f0 * vib, dim=1) / SR
    tilt = torch.rand(n, 1)
    out = sum(torch.sin(k * phase) / k ** (0.6 + tilt) for k in range(1, 8))
    syllables = torch.sin(2 * math.pi * (2 + 2 * torch.rand(n, 1)) * t + 6 * torch.rand(n, 1)).clamp(min=0)
    out = out * syllables
    return out / out.std(dim=1, keepdim=True)


def stft(x):
    return torch.stft(x, N_FFT, HOP, window=WINDOW, return_complex=True)


WINDOW = torch.hann_window(N_FFT)
voices = fake_voices(96)
train_v, test_v = voices[:80], voices[80:]


def mixture(bank, rows):
    """random crop, random gain, random SNR between 0 and 12 dB"""
    start = torch.randint(0, bank.shape[1] - CROP, (len(rows), 1))
    clean = bank[rows[:, None], start + torch.arange(CROP)]
    clean = clean * (0.5 + torch.rand(len(rows), 1))
    snr = 12 * torch.rand(len(rows), 1)
    noise = torch.randn_like(clean) * clean.std(1, keepdim=True) * 10 ** (-snr / 20)
    return clean, clean + noise


class MaskNet(nn.Module):
    def __init__(self, bins=N_FFT // 2 + 1, ch=112):
        super().__init__()
        self.inp = nn.Conv1d(bins, ch, 5, padding=2)
        self.dil = nn.ModuleList(nn.Conv1d(ch, ch, 3, padding=d, dilation=d) for d in (1, 2, 4))
        self.out = nn.Conv1d(ch, bins, 1)

    def forward(self, mag):
        h = torch.relu(self.inp(torch.log1p(mag)))
        for conv in self.dil:
            h = h + torch.relu(conv(h))
        return torch.sigmoid(self.out(h))


def si_sdr(est, ref):
    scale = (est * ref).sum(1, keepdim=True) / ref.pow(2).sum(1, keepdim=True)
    target = scale * ref
    return 10 * torch.log10(target.pow(2).sum(1) / (est - target).pow(2).sum(1))


net = MaskNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(1, 41):
    net.train()
    total = 0.0
    for rows in torch.randperm(len(train_v)).split(16):
        clean, noisy = mixture(train_v, rows)
        target, mag = stft(clean).abs(), stft(noisy).abs()
        loss = (net(mag) * mag - target).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 8 == 0:
        print(f"epoch {epoch}: spectral L1 {total / 5:.4f}")

net.eval()
with torch.no_grad():
    before, after = [], []
    for rows in torch.arange(len(test_v)).repeat(4).split(16):
        clean, noisy = mixture(test_v, rows)
        spec = stft(noisy)
        est = torch.istft(spec * net(spec.abs()), N_FFT, HOP, window=WINDOW, length=CROP)
        before.append(si_sdr(noisy, clean))
        after.append(si_sdr(est, clean))
print(f"SI-SDR {torch.cat(before).mean().item():.2f} dB -> {torch.cat(after).mean().item():.2f} dB")
'''
