NAME = "Trains a convolutional autoencoder on overlapping windows of a long made-up ECG and scores anomalies."
FAULT = "All overlapping windows are copied out of the signal and stacked, which stores every sample about 128 times."
CURE = "Use Tensor.unfold, a strided view of the signal; only the windows of each batch are copied."
KIND = "memory"
FAULT_LINES = ["return torch.stack([signal[s:s + width] for s in range(0, len(signal) - width + 1, hop)])", "windows = sliding_windows(signal, WIDTH, HOP)"]
FAULT_CALLS = ["stack", "sliding_windows"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

FS = 250
WIDTH, HOP = 512, 4
BATCH, STEPS = 64, 850


def synth_ecg(seconds):
    n = seconds * FS
    beats = np.cumsum(rng.normal(0.8, 0.05, int(seconds / 0.7)))
    beats = beats[beats < seconds - 1]
    ecg = np.zeros(n, dtype=np.float32)
    t = np.arange(-75, 100) / FS
    odd = rng.random(len(beats)) < 0.02
    normal = np.exp(-(t / 0.012) ** 2) - 0.2 * np.exp(-((t - 0.03) / 0.01) ** 2) + 0.25 * np.exp(-((t - 0.2) / 0.05) ** 2)
    ectopic = 0.9 * np.exp(-(t / 0.05) ** 2) - 0.4 * np.exp(-((t - 0.15) / 0.05) ** 2)
    for b, o in zip(beats, odd):
        start = int(b * FS) - 75
        if start < 0:
            continue
        ecg[start:start + len(t)] += ectopic if o else normal
    ecg += 0.05 * np.sin(2 * np.pi * 0.3 * np.arange(n) / FS) + 0.03 * rng.standard_normal(n)
    bad = np.zeros(n, dtype=bool)
    bad[(beats[odd] * FS).astype(int)] = True
    return torch.from_numpy(ecg.astype(np.float32)), torch.from_numpy(bad)


def sliding_windows(signal, width, hop):
    return torch.stack([signal[s:s + width] for s in range(0, len(signal) - width + 1, hop)])


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv1d(1, 16, 9, stride=4, padding=4), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=4, padding=4), nn.ReLU(),
            nn.Conv1d(32, 2, 3, padding=1))
        self.dec = nn.Sequential(
            nn.ConvTranspose1d(2, 32, 8, stride=4, padding=2), nn.ReLU(),
            nn.ConvTranspose1d(32, 1, 8, stride=4, padding=2))

    def forward(self, x):
        return self.dec(self.enc(x[:, None]))[:, 0]


signal, bad = synth_ecg(4000)
signal = (signal - signal.mean()) / signal.std()
windows = sliding_windows(signal, WIDTH, HOP)
print("windows", tuple(windows.shape))

model = AutoEncoder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
running = []
for step in range(STEPS):
    idx = torch.randint(0, len(windows), (BATCH,))
    batch = windows[idx]
    loss = F.mse_loss(model(batch), batch)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running.append(loss.item())
    if step % 200 == 0:
        print(f"step {step:4d}  mse {np.mean(running[-20:]):.3f}")

probe = torch.arange(0, len(windows), 8)
errors = []
model.eval()
with torch.no_grad():
    for idx in probe.split(256):
        batch = windows[idx]
        errors.append((model(batch) - batch).pow(2).mean(1))
errors = torch.cat(errors)

csum = F.pad(bad.long().cumsum(0), (1, 0))
first = probe * HOP
flag = csum[first + WIDTH - 50] - csum[first + 50] > 0
order = errors.argsort().argsort().float() + 1
n_pos, n_neg = flag.sum().float(), (~flag).sum().float()
auc = (order[flag].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)
print(f"{int(flag.sum())} of {len(flag)} windows hold an ectopic beat")
print(f"mean error {errors.mean():.3f}  AUC {auc:.3f}")
'''
CURED = FAULTY.replace("return torch.stack([signal[s:s + width] for s in range(0, len(signal) - width + 1, hop)])", "return signal.unfold(0, width, hop)")
