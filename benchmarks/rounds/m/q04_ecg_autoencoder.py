NAME = 'Trains a small autoencoder on sliding windows of a long ECG-like recording and scores anomalies.'

FAULT = 'All overlapping windows are copied out into one big array before training.'

CURE = 'Keep the recording once and take the windows as a strided view (Tensor.unfold); a batch is gathered when it is needed.'

KIND = 'memory'

FAULT_LINES = ['windows = np.stack([signal[s:s + WIN] for s in range(0, len(signal) - WIN + 1, HOP)])', 'windows = torch.from_numpy(windows)']

FAULT_CALLS = ['numpy.stack']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)

FS, SECONDS, WIN, HOP = 250, 1600, 384, 1


def synth_ecg(seed=5):
    rng = np.random.default_rng(seed)
    n = FS * SECONDS
    x = np.zeros(n, dtype=np.float32)
    beat_t = np.arange(-0.3, 0.5, 1 / FS)
    waves = [(-0.18, 0.025, 0.15), (-0.03, 0.008, -0.12), (0.0, 0.010, 1.0),
             (0.03, 0.010, -0.25), (0.22, 0.045, 0.30)]
    beat = sum(a * np.exp(-0.5 * ((beat_t - c) / w) ** 2) for c, w, a in waves)
    ectopic = 1.4 * np.exp(-0.5 * (beat_t / 0.05) ** 2) - 0.5 * np.exp(-0.5 * ((beat_t - 0.2) / 0.06) ** 2)
    pos, flags = 200, []
    while pos + len(beat) < n:
        odd = rng.random() < 0.02
        x[pos:pos + len(beat)] += (ectopic if odd else beat).astype(np.float32)
        if odd:
            flags.append(pos + 75)
        pos += int(FS * rng.normal(0.85, 0.05))
    x += 0.03 * rng.standard_normal(n).astype(np.float32)
    x += 0.1 * np.sin(2 * np.pi * 0.25 * np.arange(n) / FS).astype(np.float32)
    return x, np.array(flags)


class AE(nn.Module):
    def __init__(self, hidden=128, code=12):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(WIN, hidden), nn.ReLU(), nn.Linear(hidden, code))
        self.dec = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, WIN))

    def forward(self, x):
        return self.dec(self.enc(x))


signal, flags = synth_ecg()
signal = (signal - signal.mean()) / signal.std()
windows = np.stack([signal[s:s + WIN] for s in range(0, len(signal) - WIN + 1, HOP)])
windows = torch.from_numpy(windows)
print("windows:", tuple(windows.shape))

net = AE()
opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
for step in range(1500):
    idx = torch.randint(0, len(windows), (256,))
    batch = windows[idx]
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(batch), batch)
    loss.backward()
    opt.step()
    if step % 500 == 499:
        print(f"step {step + 1}: loss {loss.item():.4f}")

errors = torch.empty(len(windows))
with torch.no_grad():
    for s in range(0, len(windows), 1024):
        chunk = windows[s:s + 1024]
        errors[s:s + 1024] = (net(chunk) - chunk).pow(2).mean(1)

centre = torch.arange(len(windows)) * HOP + WIN // 2
dist = (torch.from_numpy(flags)[None, :] - centre[::50, None]).abs().min(1).values
near = dist < 60
e = errors[::50]
print(f"error near ectopic beats {e[near].mean():.4f}, elsewhere {e[~near].mean():.4f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)

FS, SECONDS, WIN, HOP = 250, 1600, 384, 1


def synth_ecg(seed=5):
    rng = np.random.default_rng(seed)
    n = FS * SECONDS
    x = np.zeros(n, dtype=np.float32)
    beat_t = np.arange(-0.3, 0.5, 1 / FS)
    waves = [(-0.18, 0.025, 0.15), (-0.03, 0.008, -0.12), (0.0, 0.010, 1.0),
             (0.03, 0.010, -0.25), (0.22, 0.045, 0.30)]
    beat = sum(a * np.exp(-0.5 * ((beat_t - c) / w) ** 2) for c, w, a in waves)
    ectopic = 1.4 * np.exp(-0.5 * (beat_t / 0.05) ** 2) - 0.5 * np.exp(-0.5 * ((beat_t - 0.2) / 0.06) ** 2)
    pos, flags = 200, []
    while pos + len(beat) < n:
        odd = rng.random() < 0.02
        x[pos:pos + len(beat)] += (ectopic if odd else beat).astype(np.float32)
        if odd:
            flags.append(pos + 75)
        pos += int(FS * rng.normal(0.85, 0.05))
    x += 0.03 * rng.standard_normal(n).astype(np.float32)
    x += 0.1 * np.sin(2 * np.pi * 0.25 * np.arange(n) / FS).astype(np.float32)
    return x, np.array(flags)


class AE(nn.Module):
    def __init__(self, hidden=128, code=12):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(WIN, hidden), nn.ReLU(), nn.Linear(hidden, code))
        self.dec = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, WIN))

    def forward(self, x):
        return self.dec(self.enc(x))


signal, flags = synth_ecg()
signal = (signal - signal.mean()) / signal.std()
windows = torch.from_numpy(signal).unfold(0, WIN, HOP)
print("windows:", tuple(windows.shape))

net = AE()
opt = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
for step in range(1500):
    idx = torch.randint(0, len(windows), (256,))
    batch = windows[idx]
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(batch), batch)
    loss.backward()
    opt.step()
    if step % 500 == 499:
        print(f"step {step + 1}: loss {loss.item():.4f}")

errors = torch.empty(len(windows))
with torch.no_grad():
    for s in range(0, len(windows), 1024):
        chunk = windows[s:s + 1024]
        errors[s:s + 1024] = (net(chunk) - chunk).pow(2).mean(1)

centre = torch.arange(len(windows)) * HOP + WIN // 2
dist = (torch.from_numpy(flags)[None, :] - centre[::50, None]).abs().min(1).values
near = dist < 60
e = errors[::50]
print(f"error near ectopic beats {e[near].mean():.4f}, elsewhere {e[~near].mean():.4f}")
"""

MEASURED = 'Peak RSS of the whole fresh process, 3/3 rounds: faulty 931 MB (932, 931, 931), cured 324 MB (325, 323, 324); saved 607 MB, share gained (faulty - cured) / faulty = 65%. Processor time 8.35 s / 7.55 s. Printed results identical.'
