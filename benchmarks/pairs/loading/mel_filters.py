"""
number = 55
title = "Make constant tables once"
family = "audio"
rule = ["slow_transform", "input_stall"]
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = ["input_stall"]

[sizes.mini]
clips = 96
batch = 8
points = 4000
mels = 64
channels = 16

[sizes.cpu]
clips = 2560
batch = 16
points = 4000
mels = 64
channels = 32

[sizes.host_bound]
clips = 2048
batch = 16
points = 4000
mels = 64
channels = 32

[sizes.balanced]
clips = 2048
batch = 32
points = 8000
mels = 64
channels = 256

[sizes.device_bound]
clips = 2048
batch = 64
points = 8000
mels = 128
channels = 512

[besides]
# the cured cell still makes spectra one by one on the training thread: made by the batch, as the finding advises, they
# save another 22 % (2.26 s to 1.79 s, medians of three runs in turns, the same loss)
cpu = ["input_stall"]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
RATE, WINDOW, HOP = 8000, 256, 128


def mel_filters():
    """Triangles on the mel scale (HTK's), normalised by area: mels x frequencies."""
    highest = 2595 * np.log10(1 + RATE / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, highest, size.mels + 2) / 2595) - 1)
    frequencies = np.fft.rfftfreq(WINDOW, 1 / RATE)
    filters = np.zeros((size.mels, len(frequencies)), dtype=np.float32)
    for row in range(size.mels):
        rising = (frequencies - corners[row]) / (corners[row + 1] - corners[row])
        falling = (corners[row + 2] - frequencies) / (corners[row + 2] - corners[row + 1])
        filters[row] = np.maximum(0, np.minimum(rising, falling)) * 2 / (corners[row + 2] - corners[row])
    return torch.from_numpy(filters)


class Commands(Dataset):
    """Spoken commands of half a second."""

    def __init__(self, transform):
        self.clips = torch.randn(size.clips, size.points)
        self.kinds = torch.randint(0, 12, (size.clips,))
        self.transform = transform

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        return self.transform(self.clips[index]), self.kinds[index]


model = torch.nn.Sequential(
    torch.nn.Conv2d(1, size.channels, 5, stride=2, padding=2),
    torch.nn.ReLU(),
    torch.nn.Conv2d(size.channels, size.channels, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(size.channels, 12),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
window = torch.hann_window(WINDOW)
pin = device == "cuda"
torch.manual_seed(1)


# %% bad
def log_mel(clip):
    spectrum = torch.stft(clip, WINDOW, HOP, window=window, return_complex=True).abs().square()
    return torch.log(mel_filters() @ spectrum + 1e-6)[None]


loader = DataLoader(Commands(log_mel), batch_size=size.batch, pin_memory=pin)  # <- slow_transform
for x, y in loader:  # <- slow_transform
    optimizer.zero_grad()
    scores = model(x.to(device, non_blocking=True))
    loss = torch.nn.functional.cross_entropy(scores, y.to(device, non_blocking=True))
    loss.backward()
    optimizer.step()

# %% good
filters = mel_filters()


def log_mel(clip):
    spectrum = torch.stft(clip, WINDOW, HOP, window=window, return_complex=True).abs().square()
    return torch.log(filters @ spectrum + 1e-6)[None]


loader = DataLoader(Commands(log_mel), batch_size=size.batch, pin_memory=pin)
for x, y in loader:
    optimizer.zero_grad()
    scores = model(x.to(device, non_blocking=True))
    loss = torch.nn.functional.cross_entropy(scores, y.to(device, non_blocking=True))
    loss.backward()
    optimizer.step()
