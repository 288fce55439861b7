NAME = 'Trains a small CNN on synthetic spectrograms with random time and frequency masks applied in the data set.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The masks are drawn anew for each epoch and so cannot be cached, and the clone protects the stored spectrogram from the in-place masks and costs little beside the CNN.'

GOOD = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(31)
random.seed(31)

N_MELS, N_FRAMES, CLASSES = 64, 96, 5


def synth_clips(n):
    """Harmonic stacks whose spacing and modulation depend on the class."""
    y = torch.randint(0, CLASSES, (n,))
    mel = torch.arange(N_MELS).view(1, -1, 1)
    frame = torch.arange(N_FRAMES).view(1, 1, -1)
    spacing = (5 + 2 * y).view(-1, 1, 1)
    shift = torch.randint(0, 10, (n, 1, 1))
    rate = (0.1 + 0.05 * y).view(-1, 1, 1)
    tone = torch.exp(-((mel + shift) % spacing).float())
    env = 0.6 + 0.4 * torch.sin(rate * frame + 6 * torch.rand(n, 1, 1))
    return (tone * env + 0.3 * torch.randn(n, N_MELS, N_FRAMES)).unsqueeze(1), y


class Clips(Dataset):
    def __init__(self, n, train):
        self.spec, self.label = synth_clips(n)
        self.train = train

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        x = self.spec[i]
        if self.train:
            x = x.clone()
            for _ in range(2):
                w = random.randint(0, 12)
                t0 = random.randint(0, N_FRAMES - w)
                x[:, :, t0:t0 + w] = 0
                h = random.randint(0, 8)
                f0 = random.randint(0, N_MELS - h)
                x[:, f0:f0 + h, :] = 0
        return x, self.label[i]


def block(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(),
        nn.MaxPool2d(2),
    )


model = nn.Sequential(
    nn.Conv2d(1, 16, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
    block(16, 48), block(48, 96), block(96, 128),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, CLASSES),
).to(memory_format=torch.channels_last)

train_dl = DataLoader(Clips(900, True), batch_size=30, shuffle=True)
valid_dl = DataLoader(Clips(200, False), batch_size=50)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(1, 5):
    model.train()
    seen, total = 0, 0.0
    for x, y in train_dl:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
        seen += len(y)
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in valid_dl:
            hits += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}  loss {total / seen:.4f}  acc {hits / len(valid_dl.dataset):.3f}")
'''
