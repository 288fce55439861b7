NAME = 'Bird-call classifier on log-mel spectrograms'
FAULT = 'The Dataset resamples each clip and computes its log-mel spectrogram in __getitem__, the same ones again in every epoch.'
CURE = 'Compute the spectrograms once when the Dataset is made and index them.'
KIND = 'time'
FAULT_LINES = [
    'return log_mel(self.clips[i]), self.labels[i]',
    'def log_mel(wave):',
    'wave = resample_poly(wave, 1, 2)',
]
FAULT_CALLS = ['CallDataset.__getitem__', 'log_mel', 'resample_poly', 'torch.stft', 'aten::stft']
FAULTY = r"""import numpy as np
import torch
from scipy.signal import resample_poly
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

SR = 32_000
N_FFT, HOP, N_MELS = 512, 128, 40


def mel_matrix(sr, n_fft, n_mels):
    hz = np.linspace(0, sr / 2, n_fft // 2 + 1)
    pts = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + sr / 1400), n_mels + 2) / 2595) - 1)
    lo, mid, hi = pts[:-2, None], pts[1:-1, None], pts[2:, None]
    w = np.minimum((hz - lo) / (mid - lo), (hi - hz) / (hi - mid))
    return torch.tensor(np.maximum(w, 0), dtype=torch.float32)


MEL = mel_matrix(SR // 2, N_FFT, N_MELS)
WINDOW = torch.hann_window(N_FFT)


def chirp(species):
    t = np.arange(int(0.5 * SR)) / SR
    f0 = 1500 + 900 * species + rng.normal(0, 80)
    sweep = [0, 1500, -1200, 600][species % 4]
    env = np.sin(np.pi * t / t[-1]) ** 2
    wave = env * np.sin(2 * np.pi * (f0 * t + 0.5 * sweep * t ** 2))
    return (wave + 0.5 * rng.standard_normal(len(t))).astype(np.float32)


def log_mel(wave):
    wave = resample_poly(wave, 1, 2)
    spec = torch.stft(torch.from_numpy(wave), N_FFT, HOP, window=WINDOW, return_complex=True).abs() ** 2
    mel = torch.log(MEL @ spec + 1e-5)
    return ((mel - mel.mean()) / mel.std()).unsqueeze(0)


class CallDataset(Dataset):
    def __init__(self, clips, labels):
        self.clips = clips
        self.labels = labels

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return log_mel(self.clips[i]), self.labels[i]


labels = rng.integers(0, 6, 560).tolist()
clips = [chirp(s) for s in labels]
train_dl = DataLoader(CallDataset(clips[:440], labels[:440]), batch_size=32, shuffle=True)
test_dl = DataLoader(CallDataset(clips[440:], labels[440:]), batch_size=60)

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d((5, 1)), nn.Flatten(), nn.Linear(80, 6),
)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(10):
    net.train()
    for x, y in train_dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = np.mean([(net(x).argmax(1) == y).float().mean().item() for x, y in test_dl])
    print(f"epoch {epoch + 1}: loss {loss.item():.3f}  test acc {acc:.3f}")
"""
CURED = r"""import numpy as np
import torch
from scipy.signal import resample_poly
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

SR = 32_000
N_FFT, HOP, N_MELS = 512, 128, 40


def mel_matrix(sr, n_fft, n_mels):
    hz = np.linspace(0, sr / 2, n_fft // 2 + 1)
    pts = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + sr / 1400), n_mels + 2) / 2595) - 1)
    lo, mid, hi = pts[:-2, None], pts[1:-1, None], pts[2:, None]
    w = np.minimum((hz - lo) / (mid - lo), (hi - hz) / (hi - mid))
    return torch.tensor(np.maximum(w, 0), dtype=torch.float32)


MEL = mel_matrix(SR // 2, N_FFT, N_MELS)
WINDOW = torch.hann_window(N_FFT)


def chirp(species):
    t = np.arange(int(0.5 * SR)) / SR
    f0 = 1500 + 900 * species + rng.normal(0, 80)
    sweep = [0, 1500, -1200, 600][species % 4]
    env = np.sin(np.pi * t / t[-1]) ** 2
    wave = env * np.sin(2 * np.pi * (f0 * t + 0.5 * sweep * t ** 2))
    return (wave + 0.5 * rng.standard_normal(len(t))).astype(np.float32)


def log_mel(wave):
    wave = resample_poly(wave, 1, 2)
    spec = torch.stft(torch.from_numpy(wave), N_FFT, HOP, window=WINDOW, return_complex=True).abs() ** 2
    mel = torch.log(MEL @ spec + 1e-5)
    return ((mel - mel.mean()) / mel.std()).unsqueeze(0)


class CallDataset(Dataset):
    def __init__(self, clips, labels):
        self.specs = [log_mel(c) for c in clips]
        self.labels = labels

    def __len__(self):
        return len(self.specs)

    def __getitem__(self, i):
        return self.specs[i], self.labels[i]


labels = rng.integers(0, 6, 560).tolist()
clips = [chirp(s) for s in labels]
train_dl = DataLoader(CallDataset(clips[:440], labels[:440]), batch_size=32, shuffle=True)
test_dl = DataLoader(CallDataset(clips[440:], labels[440:]), batch_size=60)

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d((5, 1)), nn.Flatten(), nn.Linear(80, 6),
)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(10):
    net.train()
    for x, y in train_dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = np.mean([(net(x).argmax(1) == y).float().mean().item() for x, y in test_dl])
    print(f"epoch {epoch + 1}: loss {loss.item():.3f}  test acc {acc:.3f}")
"""
