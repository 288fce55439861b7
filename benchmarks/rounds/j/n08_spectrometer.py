NAME = 'Closed-loop measurement: each setting of a slow instrument is chosen from all readings so far.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import math
import random
import time

import torch

random.seed(4)
torch.manual_seed(4)
torch.set_num_threads(1)


class Spectrometer:
    '''Stand-in for the bench instrument: a reading takes its integration time.'''
    integration = 0.09

    def __init__(self, seed=0):
        self.rng = random.Random(seed)

    def read(self, wavelength):
        time.sleep(self.integration)
        signal = sum(a * math.exp(-((wavelength - c) / w) ** 2)
                     for a, c, w in [(1.0, 0.22, 0.04), (0.6, 0.48, 0.09), (1.4, 0.81, 0.025)])
        return signal + self.rng.gauss(0, 0.02)


class BayesLinear:
    '''Bayesian regression on radial features, updated one reading at a time.'''
    def __init__(self, n=90, width=0.025, noise=0.03):
        self.centres = torch.linspace(0, 1, n, dtype=torch.float64)
        self.width, self.noise = width, noise
        self.cov = torch.eye(n, dtype=torch.float64)
        self.mean = torch.zeros(n, dtype=torch.float64)

    def features(self, x):
        return torch.exp(-((x[:, None] - self.centres) / self.width) ** 2)

    def update(self, phi, y):
        cp = self.cov @ phi
        gain = cp / (self.noise ** 2 + phi @ cp)
        self.mean += gain * (y - phi @ self.mean)
        self.cov -= torch.outer(gain, cp)

    def predict(self, phi):
        return phi @ self.mean, ((phi @ self.cov) * phi).sum(1)


device = Spectrometer()
model = BayesLinear()
grid = torch.linspace(0, 1, 801, dtype=torch.float64)
phi = model.features(grid)
asked = []
for k in range(90):
    # where to look next depends on everything read so far
    mean, var = model.predict(phi)
    slope = torch.zeros_like(mean)
    slope[1:-1] = (mean[2:] - mean[:-2]).abs()
    i = int((var.sqrt() * (1 + 2 * slope / slope.max().clamp_min(1e-9))).argmax())
    y = device.read(grid[i].item())
    model.update(phi[i], y)
    asked.append(i)
    if k % 15 == 14:
        print(f"{k + 1:3d} readings  largest std {var.max().sqrt().item():.4f}  peak near {grid[mean.argmax()].item():.3f}")
mean, var = model.predict(phi)
top = [grid[i].item() for i in range(1, 800) if mean[i] > mean[i - 1] and mean[i] > mean[i + 1] and mean[i] > 0.3]
print("lines found at", [round(v, 3) for v in top], "distinct settings", len(set(asked)))
"""
