NAME = "Compresses simulated radar pulses with the transmitted chirp, forms range-Doppler maps and trains a small CNN that tells maps with a target from empty ones."
FAULT = "Pulse compression correlates every echo with a chirp of 1200 taps in the time domain (conv1d), which costs samples x taps where an FFT costs samples x log samples."
CURE = "Do the correlation with torch.fft (multiply the spectrum of the echoes by the conjugate spectrum of the chirp)."
KIND = "time"
FAULT_LINES = ["out = F.conv1d(x, kernel, padding=n // 2)", "def pulse_compress(echo, chirp):",
               "maps = torch.stack([range_doppler(make_echo(int(t)), chirp) for t in labels])",
               "compressed = pulse_compress(echo, chirp)"]
FAULT_CALLS = ["conv1d", "convolution", "mkldnn_convolution", "thnn_conv2d", "_slow_conv2d_forward", "pulse_compress", "range_doppler"]
FAULTY = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(11)
torch.manual_seed(11)

FS, BANDWIDTH, PULSE = 20e6, 8e6, 60e-6
N_RANGE, N_PULSES = 2048, 32
N_MAPS = 88


def linear_chirp():
    t = torch.arange(int(PULSE * FS)) / FS
    phase = math.pi * BANDWIDTH / PULSE * (t - PULSE / 2) ** 2
    return torch.polar(torch.hann_window(len(t)), phase)


chirp = linear_chirp()


def make_echo(has_target):
    echo = torch.view_as_complex(torch.randn(N_PULSES, N_RANGE, 2, generator=gen)) * 0.9
    clutter = int(torch.randint(0, N_RANGE - len(chirp), (1,), generator=gen))
    echo[:, clutter:clutter + len(chirp)] += 0.25 * chirp
    if has_target:
        delay = int(torch.randint(0, N_RANGE - len(chirp), (1,), generator=gen))
        doppler = float(torch.rand(1, generator=gen)) * 0.6 + 0.2
        shift = torch.polar(torch.ones(N_PULSES), 2 * math.pi * doppler * torch.arange(N_PULSES))
        echo[:, delay:delay + len(chirp)] += 0.25 * shift[:, None] * chirp
    return echo


def pulse_compress(echo, chirp):
    """Matched filter: correlate each received pulse with the replica."""
    n = len(chirp)
    x = torch.stack([echo.real, echo.imag], dim=1)
    kernel = torch.stack([torch.stack([chirp.real, chirp.imag]),
                          torch.stack([-chirp.imag, chirp.real])])
    out = F.conv1d(x, kernel, padding=n // 2)
    return torch.complex(out[:, 0], out[:, 1])[:, :echo.shape[1]]


def range_doppler(echo, chirp):
    compressed = pulse_compress(echo, chirp)
    window = torch.hamming_window(N_PULSES)[:, None]
    rd = torch.fft.fftshift(torch.fft.fft(compressed * window, dim=0), dim=0)
    power = 20 * torch.log10(rd.abs() + 1e-3)
    return F.max_pool2d(power[None], (1, 8))


class TargetNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d((1, 4)),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d((4, 4)))
        self.head = nn.Linear(24 * 16, 2)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


labels = torch.randint(0, 2, (N_MAPS,), generator=gen)
maps = torch.stack([range_doppler(make_echo(int(t)), chirp) for t in labels])
maps = (maps - maps.mean()) / maps.std()
print("range-Doppler maps", tuple(maps.shape), f"max {maps.max().item():.2f}")

cut = int(0.75 * N_MAPS)
net = TargetNet()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for epoch in range(28):
    order = torch.randperm(cut, generator=gen)
    total = 0.0
    for idx in order.split(12):
        loss = F.cross_entropy(net(maps[idx]), labels[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 7 == 6:
        print(f"epoch {epoch + 1}: loss {total / cut:.2f}")

net.eval()
with torch.no_grad():
    hit = (net(maps[cut:]).argmax(1) == labels[cut:]).float().mean()
print(f"held-out accuracy {hit.item():.2f}")
'''
CURED = FAULTY.replace('''    x = torch.stack([echo.real, echo.imag], dim=1)
    kernel = torch.stack([torch.stack([chirp.real, chirp.imag]),
                          torch.stack([-chirp.imag, chirp.real])])
    out = F.conv1d(x, kernel, padding=n // 2)
    return torch.complex(out[:, 0], out[:, 1])[:, :echo.shape[1]]
''', '''    size = 4096
    spectrum = torch.fft.fft(F.pad(echo, (n // 2, 0)), size) * torch.fft.fft(chirp, size).conj()
    return torch.fft.ifft(spectrum)[:, :echo.shape[1]]
''')
