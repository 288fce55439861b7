NAME = "Trains a convolutional autoencoder on overlapping windows of a beam-loss monitor signal and ranks windows by reconstruction error."
FAULT = "All heavily overlapping windows are copied out and stacked, which holds the signal almost two hundredfold."
CURE = "Use a strided view of the signal (tensor.unfold), which copies only the windows of the current batch."
KIND = "memory"
FAULT_LINES = [
    "pieces = [signal[s:s + WIDTH].copy() for s in starts]",
    "windows = torch.from_numpy(np.stack(pieces))",
    "windows = torch.tensor(np.stack(pieces))",
]
FAULT_CALLS = ["stack", "copy", "cut_windows", "tensor", "from_numpy", "concatenate"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn
from scipy.signal import lfilter

torch.set_num_threads(1)
torch.manual_seed(1969)
rng = np.random.default_rng(1969)

WIDTH, STEP = 384, 2


def beam_loss_signal(n=500_000, n_spikes=40):
    """Turn-by-turn losses: coloured noise, mains hum, slow drift, and a few sharp events."""
    base = lfilter([1.0], [1.0, -0.92], rng.standard_normal(n)) * 0.2
    hum = 0.4 * np.sin(2 * np.pi * np.arange(n) / 221.0)
    drift = np.cumsum(rng.standard_normal(n)) * 0.001
    at = np.sort(rng.integers(5_000, n - 5_000, n_spikes))
    sig = base + hum + drift
    for p in at:
        sig[p:p + 120] += 4.0 * np.exp(-np.arange(120) / 25.0)
    sig = (sig - sig.mean()) / sig.std()
    return sig.astype(np.float32), at


def cut_windows(signal):
    starts = range(0, len(signal) - WIDTH + 1, STEP)
    pieces = [signal[s:s + WIDTH] for s in starts]
    windows = torch.from_numpy(np.stack(pieces))
    return windows


class LossAutoencoder(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv1d(1, 12, 9, stride=4, padding=4), nn.ReLU(),
            nn.Conv1d(12, 24, 9, stride=4, padding=4), nn.ReLU(),
            nn.Flatten(), nn.Linear(24 * 24, code))
        self.dec = nn.Sequential(
            nn.Linear(code, 24 * 24), nn.ReLU(), nn.Unflatten(1, (24, 24)),
            nn.ConvTranspose1d(24, 12, 8, stride=4, padding=2), nn.ReLU(),
            nn.ConvTranspose1d(12, 1, 8, stride=4, padding=2))

    def forward(self, w):
        return self.dec(self.enc(w.unsqueeze(1))).squeeze(1)


signal, events = beam_loss_signal()
windows = cut_windows(signal)
print("windows:", tuple(windows.shape))

model = LossAutoencoder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
history = []
for step in range(900):
    pick = torch.randint(0, len(windows), (128,))
    w = windows[pick]
    w = w - w.mean(1, keepdim=True)
    loss = nn.functional.smooth_l1_loss(model(w), w)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
    if step % 300 == 299:
        print(f"step {step + 1}: loss {np.mean(history[-300:]):.4f}")

model.eval()
errors = []
with torch.no_grad():
    for i in range(0, len(windows), 4096):
        w = windows[i:i + 4096:16]
        w = w - w.mean(1, keepdim=True)
        errors.append((model(w) - w).abs().amax(1))
errors = torch.cat(errors).numpy()

begin = np.arange(len(errors)) * STEP * 16
worst = begin[np.argsort(errors)[-60:]]
hit = sum(any(s <= p < s + WIDTH for s in worst) for p in events)
print(f"median error {np.median(errors):.3f}, top error {errors.max():.3f}")
print(f"{hit} of {len(events)} events lie in the 60 worst windows")
'''
CURED = FAULTY.replace('''    starts = range(0, len(signal) - WIDTH + 1, STEP)
    pieces = [signal[s:s + WIDTH] for s in starts]
    windows = torch.from_numpy(np.stack(pieces))
''', '''    windows = torch.from_numpy(signal).unfold(0, WIDTH, STEP)
''')
FAULT_LINES = [
    "pieces = [signal[s:s + WIDTH] for s in starts]",
    "windows = torch.from_numpy(np.stack(pieces))",
    "windows = cut_windows(signal)",
]
