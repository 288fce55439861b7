NAME = "Trains a 1-D convolutional autoencoder on healthy vibration windows and then runs it over a stream with a slowly adapting alarm level."
FAULT = "The stream is scored with autograd on and the running alarm level is a tensor that chains every batch's graph, so the activations of all batches stay alive."
CURE = "Score the stream under torch.no_grad() (or detach the error before updating the level)."
KIND = "memory"
FAULT_LINES = [
    "level = self.decay * level + (1 - self.decay) * err.mean()",
    "err = self.residual(torch.as_tensor(block))",
    "def run(self, stream, block_size=128):",
    "return ((self.model(x) - x) ** 2).mean(dim=(1, 2))",
]
FAULT_CALLS = ["run", "residual", "forward", "conv1d", "convolution", "conv_transpose1d", "gelu", "mul", "add"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

CHANNELS, WINDOW = 4, 256


def spindle(n, wear=0.0):
    t = np.arange(WINDOW) / 1024.0
    f0 = np.random.uniform(45, 55, size=(n, 1, 1))
    ph = np.random.uniform(0, 2 * np.pi, size=(n, CHANNELS, 1))
    sig = np.sin(2 * np.pi * f0 * t + ph) + 0.4 * np.sin(4 * np.pi * f0 * t + 2 * ph)
    sig += 0.1 * np.random.randn(n, CHANNELS, WINDOW)
    if wear:
        sig += wear * np.random.randn(n, CHANNELS, WINDOW) * (np.sin(2 * np.pi * 11 * t) > 0.8)
    return sig.astype(np.float32)


class ConvAE(nn.Module):
    def __init__(self, c=CHANNELS, h=32):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv1d(c, h, 7, stride=2, padding=3), nn.GELU(),
            nn.Conv1d(h, h, 5, stride=2, padding=2), nn.GELU(),
            nn.Conv1d(h, 12, 5, stride=2, padding=2),
        )
        self.dec = nn.Sequential(
            nn.ConvTranspose1d(12, h, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose1d(h, h, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose1d(h, c, 4, stride=2, padding=1),
        )

    def forward(self, x):
        return self.dec(self.enc(x))


def fit(model, data, epochs=9, bs=128, lr=2e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    data = torch.from_numpy(data)
    for ep in range(epochs):
        tot = 0.0
        for idx in torch.randperm(len(data)).split(bs):
            x = data[idx]
            loss = nn.functional.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        print(f"epoch {ep}: reconstruction {tot / len(data):.4f}")


class Monitor:
    """Flags windows whose residual exceeds a multiple of the recent level."""

    def __init__(self, model, decay=0.95, factor=1.6):
        self.model = model.eval()
        self.decay = decay
        self.factor = factor

    def residual(self, x):
        return ((self.model(x) - x) ** 2).mean(dim=(1, 2))

    def run(self, stream, block_size=128):
        level = self.residual(torch.as_tensor(stream[:block_size])).mean()
        alarms = []
        for s in range(0, len(stream), block_size):
            block = stream[s:s + block_size]
            err = self.residual(torch.as_tensor(block))
            hot = err > self.factor * level
            alarms.append(hot.sum().item())
            level = self.decay * level + (1 - self.decay) * err.mean()
        return np.array(alarms), float(level)


model = ConvAE()
fit(model, spindle(4000))

stream = np.concatenate([spindle(3500), spindle(1000, wear=0.3), spindle(700, wear=0.8)])
alarms, level = Monitor(model).run(stream)
thirds = np.array_split(alarms, 6)
print("alarms per part of the shift:", [int(p.sum()) for p in thirds])
print(f"final level {level:.4f}")
'''
CURED = FAULTY.replace("    def run(self, stream", "    @torch.no_grad()\n    def run(self, stream")
