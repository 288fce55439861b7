NAME = "Recognises bird songs from synthetic recordings mixed afresh with background noise, with log-mel features and a recurrent network."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The short-time Fourier transform and mel features of the training clips are computed again in every epoch rather than once: each batch is shifted and mixed with random background at a random level before the transform, so the features differ each time; the fixed test features are computed once."
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

SR, CLIP = 16_000, 24_576
N_FFT, HOP, MELS = 512, 256, 64
SPECIES = 6


def song(kind):
    """A few chirped syllables whose shape and pace depend on the species."""
    out = torch.zeros(CLIP)
    n = int(SR * (0.05 + 0.015 * kind))
    t = torch.arange(n) / n
    lo, hi = 1800 + 350 * kind, 2600 + 500 * (kind % 3)
    pos = int(torch.randint(0, 2500, (1,)))
    while pos + n < CLIP:
        bend = t if kind % 2 else 1 - t
        f = (lo + (hi - lo) * bend) * (1 + 0.05 * torch.randn(1))
        phase = 2 * math.pi * torch.cumsum(f / SR, dim=0)
        out[pos:pos + n] += torch.sin(math.pi * t) ** 2 * torch.sin(phase)
        pos += n + int(SR * (0.03 + 0.02 * ((kind * 2) % 5)) * (0.8 + 0.4 * torch.rand(1)))
    return out


def dataset(n):
    y = torch.arange(n) % SPECIES
    return torch.stack([song(k) for k in y.tolist()]), y


def mel_bank():
    to_mel = lambda f: 2595 * math.log10(1 + f / 700)
    pts = 700 * (10 ** (torch.linspace(to_mel(300), to_mel(7500), MELS + 2) / 2595) - 1)
    f = torch.linspace(0, SR / 2, N_FFT // 2 + 1)[None]
    left, mid, right = pts[:-2, None], pts[1:-1, None], pts[2:, None]
    return torch.minimum((f - left) / (mid - left), (right - f) / (right - mid)).clamp(min=0)


WINDOW, BANK = torch.hann_window(N_FFT), mel_bank()
background = torch.cumsum(torch.randn(40, CLIP), dim=1)
background = F.normalize(background[:, 1:] - 0.97 * background[:, :-1], dim=1) * math.sqrt(CLIP)


def features(wave):
    spec = torch.stft(wave, N_FFT, HOP, window=WINDOW, center=False, return_complex=True)
    power = spec.real.square() + spec.imag.square()
    return torch.log(BANK @ power + 1e-3).transpose(1, 2)


def remix(wave):
    shift = int(torch.randint(0, CLIP, (1,)))
    noise = background[torch.randint(0, len(background), (len(wave),))]
    level = 0.2 + 1.2 * torch.rand(len(wave), 1)
    return torch.roll(wave, shift, dims=1)[:, 1:] + level * noise


class SongNet(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.norm = nn.LayerNorm(MELS)
        self.rnn = nn.GRU(MELS, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, SPECIES)

    def forward(self, x):
        h, _ = self.rnn(self.norm(x))
        return self.out(h.mean(dim=1))


train_w, train_y = dataset(450)
test_w, test_y = dataset(120)
test_x = features(remix(test_w))

net = SongNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(8):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(train_w)).split(50):
        x = features(remix(train_w[idx]))
        loss = F.cross_entropy(net(x), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(test_x).argmax(dim=1) == test_y).float().mean().item()
    print(f"epoch {epoch}: loss {total / 9:.3f}, test accuracy {acc:.2f}")
'''
