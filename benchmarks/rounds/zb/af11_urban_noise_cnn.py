NAME = "Classifies urban noise clips with a small 2-D CNN on log-mel spectrograms of randomly mixed waveforms."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = ("The spectrogram is computed anew for each training batch in every epoch instead of once; the clips are shifted and mixed with a random other "
         "background as waveforms each time, so there is nothing to cache (the test features, which do not change, are computed once), and it takes only a small share of the time.")
GOOD = r'''import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)
rng = np.random.default_rng(77)

SR, LEN, NFFT, HOP, MELS = 8000, 8192, 512, 256, 40
CLASSES = ["siren", "drill", "engine", "horn", "dog"]
t = np.arange(LEN) / SR


def clip(kind):
    f0 = rng.uniform(0.8, 1.25)
    ph = rng.uniform(0, 6)
    if kind == "siren":
        x = np.sin(2 * np.pi * 900 * f0 * t + 60 * np.sin(2 * np.pi * 1.2 * t + ph))
    elif kind == "drill":
        x = rng.normal(0, 1, LEN) * (np.sin(2 * np.pi * 28 * f0 * t + ph) > 0)
    elif kind == "engine":
        x = sum(np.sin(2 * np.pi * 55 * f0 * k * t + ph * k) / k for k in range(1, 12))
    elif kind == "horn":
        on = (t > rng.uniform(0, .4)) & (t < rng.uniform(.6, 1.0))
        x = on * np.sign(np.sin(2 * np.pi * 420 * f0 * t + ph))
    else:
        x = np.zeros(LEN)
        for s in rng.uniform(0, .8, 3):
            u = np.clip(t - s, 0, None)
            x += np.exp(-u * 18) * (u > 0) * np.sin(2 * np.pi * (600 * f0 * u - 900 * u ** 2))
    return (x / (x.std() + 1e-6)).astype(np.float32)


def mel_bank():
    mel = np.linspace(0, 2595 * np.log10(1 + SR / 2 / 700), MELS + 2)
    hz = 700 * (10 ** (mel / 2595) - 1)
    f = np.fft.rfftfreq(NFFT, 1 / SR)[:, None]
    up, down = (f - hz[:-2]) / (hz[1:-1] - hz[:-2]), (hz[2:] - f) / (hz[2:] - hz[1:-1])
    return torch.tensor(np.clip(np.minimum(up, down), 0, None).T, dtype=torch.float32)


BANK, WINDOW = mel_bank(), torch.hann_window(NFFT)


def log_mel(wave):
    spec = torch.stft(wave, NFFT, HOP, window=WINDOW, return_complex=True)
    return torch.log(BANK @ (spec.real.square() + spec.imag.square()) + 1e-3)[:, None]


def mix(wave, street):
    """Random start and a street recording underneath at 0 to 12 dB SNR."""
    b = len(wave)
    idx = torch.arange(LEN)[None] + torch.randint(0, LEN, (b, 1))
    idx = torch.where(idx < LEN, idx, idx - LEN)
    noise = street[torch.randint(0, len(street), (b,))]
    snr = torch.empty(b, 1).uniform_(0, 12)
    return wave.gather(1, idx) + noise * 10 ** (-snr / 20)


y = torch.arange(len(CLASSES)).repeat(120)
waves = torch.from_numpy(np.stack([clip(CLASSES[k]) for k in y.tolist()]))
street = torch.fft.irfft(torch.fft.rfft(torch.randn(60, LEN)) / (50 + torch.arange(LEN // 2 + 1)))
street = street / street.std(1, keepdim=True)
order = torch.randperm(len(y))
tr, te = order[:480], order[480:]
test_feat = log_mel(mix(waves[te], street))


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


model = nn.Sequential(block(1, 48), block(48, 96), block(96, 192), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(192, 5))
model = model.to(memory_format=torch.channels_last)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
for epoch in range(15):
    model.train()
    total = 0.0
    for idx in tr[torch.randperm(len(tr))].split(32):
        x = log_mel(mix(waves[idx], street))
        loss = F.cross_entropy(model(x), y[idx], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            acc = (model(test_feat).argmax(1) == y[te]).float().mean()
        print(f"epoch {epoch + 1:2d}  loss {total / len(tr):.3f}  test accuracy {acc:.3f}")
'''
