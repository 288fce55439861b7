NAME = 'Trains a keyword-spotting 1-d CNN on log-spectrograms of clips that are augmented with simulated room reverberation.'
FAULT = 'The reverberation is a direct time-domain convolution (conv1d) with impulse responses of thousands of taps, which costs far more than an FFT convolution.'
CURE = 'Convolve in the frequency domain with rfft/irfft.'
KIND = 'time'
FAULT_LINES = ['wet = F.conv1d(padded.unsqueeze(0), rooms[which].flip(1).unsqueeze(1), groups=len(wave)).squeeze(0)', 'padded = F.pad(wave, (TAPS - 1, 0))', 'x = features(add_reverb(waves[idx]))']
FAULT_CALLS = ['conv1d', 'add_reverb']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

RATE, LENGTH, TAPS, WORDS = 8000, 8000, 4000, 8


def make_clips(n):
    t = torch.arange(LENGTH) / RATE
    y = torch.randint(0, WORDS, (n,))
    f0 = 200 + 90 * y.float() + 15 * torch.randn(n)
    sweep = 1 + 0.4 * (y % 3).float()
    phase = 6.2832 * (f0[:, None] * t + 0.5 * (sweep * 150)[:, None] * t ** 2)
    envelope = torch.exp(-((t - 0.5) ** 2) / 0.05)
    waves = envelope * (phase.sin() + 0.5 * (2 * phase).sin())
    return waves + 0.15 * torch.randn(n, LENGTH), y


def make_rooms(n):
    t = torch.arange(TAPS) / RATE
    decay = torch.exp(-t[None] / (0.03 + 0.08 * torch.rand(n, 1)))
    ir = decay * torch.randn(n, TAPS)
    ir[:, 0] = 4.0
    return ir / ir.norm(dim=1, keepdim=True)


rooms = make_rooms(24)


def add_reverb(wave):
    which = torch.randint(0, len(rooms), (len(wave),))
    padded = F.pad(wave, (TAPS - 1, 0))
    wet = F.conv1d(padded.unsqueeze(0), rooms[which].flip(1).unsqueeze(1), groups=len(wave)).squeeze(0)
    mix = torch.rand(len(wave), 1)
    return mix * wet + (1 - mix) * wave


window = torch.hann_window(256)


def features(wave):
    spec = torch.stft(wave, 256, hop_length=128, window=window, return_complex=True)
    return torch.log1p(spec.abs())


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(129, 64, 5, padding=2)
        self.conv2 = nn.Conv1d(64, 64, 3, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, padding=1)
        self.out = nn.Linear(64, WORDS)

    def forward(self, x):
        x = F.avg_pool1d(F.gelu(self.conv1(x)), 2)
        x = F.avg_pool1d(F.gelu(self.conv2(x)), 2)
        x = F.gelu(self.conv3(x))
        return self.out(x.mean(2))


waves, words = make_clips(640)
test_waves, test_words = make_clips(200)
test_x = features(test_waves)
net = KeywordNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(10):
    net.train()
    losses = []
    for idx in torch.randperm(len(waves)).split(32):
        with torch.no_grad():
            x = features(add_reverb(waves[idx]))
        loss = F.cross_entropy(net(x), words[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: train loss {sum(losses) / len(losses):.2f}")

net.eval()
with torch.no_grad():
    test_loss = F.cross_entropy(net(test_x), test_words).item()
print(f"test loss {test_loss:.2f}")
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)

RATE, LENGTH, TAPS, WORDS = 8000, 8000, 4000, 8


def make_clips(n):
    t = torch.arange(LENGTH) / RATE
    y = torch.randint(0, WORDS, (n,))
    f0 = 200 + 90 * y.float() + 15 * torch.randn(n)
    sweep = 1 + 0.4 * (y % 3).float()
    phase = 6.2832 * (f0[:, None] * t + 0.5 * (sweep * 150)[:, None] * t ** 2)
    envelope = torch.exp(-((t - 0.5) ** 2) / 0.05)
    waves = envelope * (phase.sin() + 0.5 * (2 * phase).sin())
    return waves + 0.15 * torch.randn(n, LENGTH), y


def make_rooms(n):
    t = torch.arange(TAPS) / RATE
    decay = torch.exp(-t[None] / (0.03 + 0.08 * torch.rand(n, 1)))
    ir = decay * torch.randn(n, TAPS)
    ir[:, 0] = 4.0
    return ir / ir.norm(dim=1, keepdim=True)


rooms = make_rooms(24)


def add_reverb(wave):
    which = torch.randint(0, len(rooms), (len(wave),))
    n = LENGTH + TAPS
    wet = torch.fft.irfft(torch.fft.rfft(wave, n) * torch.fft.rfft(rooms[which], n), n)[:, :LENGTH]
    mix = torch.rand(len(wave), 1)
    return mix * wet + (1 - mix) * wave


window = torch.hann_window(256)


def features(wave):
    spec = torch.stft(wave, 256, hop_length=128, window=window, return_complex=True)
    return torch.log1p(spec.abs())


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(129, 64, 5, padding=2)
        self.conv2 = nn.Conv1d(64, 64, 3, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, padding=1)
        self.out = nn.Linear(64, WORDS)

    def forward(self, x):
        x = F.avg_pool1d(F.gelu(self.conv1(x)), 2)
        x = F.avg_pool1d(F.gelu(self.conv2(x)), 2)
        x = F.gelu(self.conv3(x))
        return self.out(x.mean(2))


waves, words = make_clips(640)
test_waves, test_words = make_clips(200)
test_x = features(test_waves)
net = KeywordNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(10):
    net.train()
    losses = []
    for idx in torch.randperm(len(waves)).split(32):
        with torch.no_grad():
            x = features(add_reverb(waves[idx]))
        loss = F.cross_entropy(net(x), words[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: train loss {sum(losses) / len(losses):.2f}")

net.eval()
with torch.no_grad():
    test_loss = F.cross_entropy(net(test_x), test_words).item()
print(f"test loss {test_loss:.2f}")
"""
