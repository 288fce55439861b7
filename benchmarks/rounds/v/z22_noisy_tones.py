NAME = 'Trains a 1-D convolutional tone classifier on spectrograms of waveforms that are shifted and mixed with noise anew in each epoch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The spectrograms cannot be computed once in advance because the shift and the noise are drawn anew on the waveform in each epoch, and the per-row masking loop and its clone cost very little.'
GOOD = r"""import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)
SR, N_FFT, HOP, BINS, CLASSES = 8000, 256, 128, 129, 8


def synth(n):
    y = torch.randint(CLASSES, (n,))
    t = torch.arange(SR) / SR
    base = 200 + 150 * y.float()[:, None]
    sweep = 300 * (torch.rand(n, 1) - 0.5)
    phase = 2 * math.pi * (base * t + 0.5 * sweep * t ** 2)
    envelope = torch.exp(-((t - 0.2 - 0.6 * torch.rand(n, 1)) ** 2) / 0.02)
    return torch.sin(phase) * envelope + 0.05 * torch.randn(n, SR), y


def triangular_bank(n_bands=48):
    edges = torch.logspace(math.log10(60), math.log10(3900), n_bands + 2)
    freqs = torch.linspace(0, SR / 2, BINS)[:, None]
    up = (freqs - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - freqs) / (edges[2:] - edges[1:-1])
    return torch.minimum(up, down).clamp(min=0) + 1e-4


WINDOW, BANK = torch.hann_window(N_FFT), triangular_bank()


def log_spectrogram(wav):
    spec = torch.stft(wav, N_FFT, HOP, window=WINDOW, return_complex=True)
    power = spec.real.square() + spec.imag.square()
    return torch.log(BANK.T @ power + 1e-5)


def rms(x):
    return x.square().mean(1, keepdim=True).sqrt()


def augment(wav, noise_pool):
    n = len(wav)
    offset = torch.randint(0, SR, (n, 1))
    index = (torch.arange(SR) + offset) % SR
    shifted = wav.gather(1, index)
    noise = noise_pool[torch.randint(len(noise_pool), (n,))]
    snr_db = torch.empty(n, 1).uniform_(0, 15)
    gain = rms(shifted) / 10 ** (snr_db / 20)
    return shifted + gain * noise


def mask_bands(spec, width=6):
    spec = spec.clone()
    floor = spec.mean(dim=(1, 2))
    for row, start in enumerate(torch.randint(0, spec.shape[1] - width, (len(spec),)).tolist()):
        spec[row, start:start + width] = floor[row]
    return spec


def train_batches(wavs, labels, noise_pool, size):
    for idx in torch.randperm(len(wavs)).split(size):
        spec = log_spectrogram(augment(wavs[idx], noise_pool))
        yield mask_bands(spec), labels[idx]


wavs, labels = synth(768)
test_wavs, test_labels = synth(256)
noise_pool = torch.cumsum(torch.randn(64, SR), 1)
noise_pool = noise_pool - F.avg_pool1d(noise_pool[:, None], 201, 1, 100, count_include_pad=False)[:, 0]
noise_pool = noise_pool / rms(noise_pool)
test_spec = log_spectrogram(augment(test_wavs, noise_pool))

net = nn.Sequential(
    nn.Conv1d(48, 192, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(192, 192, 5, padding=2), nn.ReLU(),
    nn.Conv1d(192, 192, 5, padding=2), nn.ReLU(),
    nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(192, CLASSES))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(8):
    total = 0.0
    for spec, y in train_batches(wavs, labels, noise_pool, 64):
        loss = F.cross_entropy(net(spec), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    with torch.no_grad():
        acc = (net(test_spec).argmax(1) == test_labels).float().mean().item()
    print(f"epoch {epoch}  loss {total / len(wavs):.4f}  noisy test accuracy {acc:.3f}")
"""
