NAME = "Separates a voice-like from a drum-like source with a dilated convolutional mask network trained on mixtures that are drawn anew at every step."
FAULT = None
CURE = None
KIND = None
LOOKS = "The STFT of the mixture is computed in every training step and the inverse in every loss, which looks as though it could be cached; but crops, gains and pairings are random, so no mixture ever comes back, and the loss is on waveforms. loss.item() in each step costs nothing on a CPU, and the transforms are a few percent beside the convolutions."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)

SR, DUR, CROP = 8000, 3.0, 8000
N_FFT, HOP = 256, 128
WIN = torch.hann_window(N_FFT)


def voices(n):
    t = torch.arange(int(SR * DUR)) / SR
    f0 = 110 + 120 * torch.rand(n, 1)
    vib = 1 + 0.02 * torch.sin(2 * math.pi * 5 * t + 6 * torch.rand(n, 1))
    phase = torch.cumsum(2 * math.pi * f0 * vib / SR, 1)
    out = torch.zeros(n, len(t))
    for k in range(1, 9):
        out += torch.sin(k * phase) / k * torch.rand(n, 1)
    return F.normalize(out, dim=1) * math.sqrt(out.shape[1])


def drums(n):
    length = int(SR * DUR)
    hits = (torch.rand(n, length) < 4 / SR).float()
    env = torch.exp(-torch.arange(1200) / 250.0)
    spec = torch.fft.rfft(hits, length + 1200) * torch.fft.rfft(env, length + 1200)
    out = torch.fft.irfft(spec, length + 1200)[:, :length] * torch.randn(n, length)
    return F.normalize(out, dim=1) * math.sqrt(length)


def draw_mixture(a, b, bs):
    """random partners, offsets and levels"""
    span = torch.arange(CROP)
    parts = []
    for bank in (a, b):
        who = torch.randint(len(bank), (bs, 1))
        off = torch.randint(bank.shape[1] - CROP, (bs, 1))
        gain = 10 ** ((torch.rand(bs, 1) * 10 - 5) / 20)
        parts.append(gain * bank[who, off + span])
    src = torch.stack(parts, 1)
    return src.sum(1), src


def stft(x):
    return torch.stft(x, N_FFT, HOP, window=WIN, return_complex=True)


def istft(z):
    return torch.istft(z, N_FFT, HOP, window=WIN, length=CROP)


class MaskNet(nn.Module):
    def __init__(self, ch=160, n_src=2):
        super().__init__()
        bins = N_FFT // 2 + 1
        self.n_src = n_src
        self.inp = nn.Conv1d(bins, ch, 1)
        self.blocks = nn.ModuleList(nn.Conv1d(ch, ch, 3, padding=2 ** i, dilation=2 ** i) for i in range(4))
        self.out = nn.Conv1d(ch, bins * n_src, 1)

    def forward(self, mag):
        h = F.relu(self.inp(torch.log1p(mag)))
        for conv in self.blocks:
            h = h + F.relu(conv(h))
        m = self.out(h)
        return m.view(m.shape[0], self.n_src, -1, m.shape[-1]).sigmoid()


def si_sdr(est, ref):
    scale = (est * ref).sum(-1, keepdim=True) / ref.pow(2).sum(-1, keepdim=True).clamp_min(1e-8)
    target = scale * ref
    return 10 * torch.log10(target.pow(2).sum(-1) / (est - target).pow(2).sum(-1).clamp_min(1e-8) + 1e-8)


def separate(net, mix):
    Z = stft(mix)
    masks = net(Z.abs())
    est = masks * Z[:, None]
    return istft(est.flatten(0, 1)).view(len(mix), 2, -1)


bank_a, bank_b = voices(60), drums(60)
net = MaskNet()
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
history = []
for step in range(140):
    mix, src = draw_mixture(bank_a[:50], bank_b[:50], 12)
    loss = -si_sdr(separate(net, mix), src).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    history.append(loss.item())
    if step % 35 == 34:
        print(f"step {step + 1:3d}  SI-SDR {-sum(history[-35:]) / 35:.2f} dB")

net.eval()
with torch.no_grad():
    mix, src = draw_mixture(bank_a[50:], bank_b[50:], 24)
    before = si_sdr(mix[:, None].expand_as(src), src).mean().item()
    after = si_sdr(separate(net, mix), src).mean().item()
print(f"held-out SI-SDR {before:.2f} -> {after:.2f} dB")
'''
