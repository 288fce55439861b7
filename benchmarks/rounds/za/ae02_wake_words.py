NAME = "Trains a small convolutional network that tells six spoken commands of a voice assistant apart from log-mel features."
FAULT = "The log-mel features of the fixed clips are computed anew for every clip in every epoch although neither clips nor transform ever change."
CURE = "Compute the features of all clips once in __init__ and return the stored ones in __getitem__."
KIND = "time"
FAULT_LINES = [
    "feat = self.front(self.clips[i])",
    "def __getitem__(self, i):",
    "spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)",
    "power = spec.abs() ** 2",
    "mel = self.bank @ power",
]
FAULT_CALLS = ["stft", "LogMel.__call__", "__getitem__", "abs", "matmul"]
FAULTY = r'''
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(3)
np.random.seed(3)
RATE = 16000
WORDS = ["lights", "music", "stop", "timer", "weather", "call"]


def speak(word, seconds=1.0):
    t = np.arange(int(RATE * seconds)) / RATE
    f0 = 110 + 20 * word + 8 * np.random.randn()
    glide = 1 + 0.15 * np.sin(2 * np.pi * (1 + word) * t)
    out = sum(np.sin(2 * np.pi * f0 * k * t * glide) / k for k in range(1, 4 + word))
    env = np.exp(-((t - 0.5 + 0.05 * np.random.randn()) ** 2) / 0.05)
    return (out * env + 0.3 * np.random.randn(len(t))).astype(np.float32)


class LogMel:
    def __init__(self, n_fft=512, hop=128, n_mels=40):
        self.n_fft, self.hop = n_fft, hop
        self.window = torch.hann_window(n_fft)
        self.bank = self.make_bank(n_mels)

    def make_bank(self, n_mels):
        top = 2595 * math.log10(1 + RATE / 2 / 700)
        hz = 700 * (10 ** (torch.linspace(0, top, n_mels + 2) / 2595) - 1)
        freqs = torch.linspace(0, RATE / 2, self.n_fft // 2 + 1)
        up = (freqs - hz[:-2, None]) / (hz[1:-1] - hz[:-2])[:, None]
        down = (hz[2:, None] - freqs) / (hz[2:] - hz[1:-1])[:, None]
        return torch.minimum(up, down).clamp(min=0)

    def __call__(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.abs() ** 2
        mel = self.bank @ power
        logmel = torch.log(mel + 1e-6)
        return (logmel - logmel.mean()) / logmel.std()


class Commands(Dataset):
    def __init__(self, per_word, front):
        self.labels = [w for w in range(len(WORDS)) for _ in range(per_word)]
        self.clips = [torch.from_numpy(speak(w)) for w in self.labels]
        self.front = front

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        feat = self.front(self.clips[i])
        return feat.unsqueeze(0), self.labels[i]


class Spotter(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.c1 = nn.Conv2d(1, 12, 5, stride=2, padding=2)
        self.c2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.fc = nn.Linear(24, n_classes)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.mean(dim=(2, 3)))


front = LogMel()
train_set, test_set = Commands(60, front), Commands(20, front)
train = DataLoader(train_set, batch_size=32, shuffle=True)
test = DataLoader(test_set, batch_size=60)

model = Spotter(len(WORDS))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(20):
    model.train()
    running = 0.0
    for feats, target in train:
        opt.zero_grad()
        loss = F.cross_entropy(model(feats), target)
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    right = 0
    with torch.no_grad():
        for feats, target in test:
            right += (model(feats).argmax(1) == target).sum().item()
    if epoch % 4 == 3:
        print(f"epoch {epoch:2d}  loss {running / len(train):.3f}  test acc {right / len(test_set):.3f}")
'''
CURED = FAULTY.replace('''        self.front = front

''', '''        self.feats = [front(c).unsqueeze(0) for c in self.clips]

''').replace('''        feat = self.front(self.clips[i])
        return feat.unsqueeze(0), self.labels[i]
''', '''        return self.feats[i], self.labels[i]
''')
