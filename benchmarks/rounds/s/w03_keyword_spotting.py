NAME = 'Trains a 1-D convolutional keyword spotter on synthetic audio clips with a custom collate function.'
FAULT = 'The collate function builds the batch with torch.tensor from a list of numpy arrays, which converts element by element.'
CURE = 'Stack the arrays with numpy first and wrap the result with torch.from_numpy.'
KIND = 'time'
FAULT_LINES = [
    'waves = torch.tensor([item["wave"] for item in items])',
]
FAULT_CALLS = ['tensor', 'collate']

FAULTY = r'''import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(1)

SAMPLE_RATE, SECONDS = 8000, 1.0
LENGTH = int(SAMPLE_RATE * SECONDS)
WORDS = ["yes", "no", "stop", "go", "left", "right"]


class SyntheticCommands(Dataset):
    def __init__(self, size, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(LENGTH, dtype=np.float32) / SAMPLE_RATE
        self.labels = rng.integers(0, len(WORDS), size)
        self.clips = []
        for label in self.labels:
            f0 = 220.0 * (1 + label) * rng.uniform(0.95, 1.05)
            envelope = np.exp(-0.5 * ((t - rng.uniform(0.3, 0.7)) / 0.12) ** 2)
            clip = envelope * np.sin(2 * np.pi * f0 * t) + 0.8 * rng.standard_normal(LENGTH)
            self.clips.append(clip.astype(np.float32))

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        clip = self.clips[i]
        return {"wave": clip / np.abs(clip).max(), "label": int(self.labels[i])}


def collate(items):
    waves = torch.tensor([item["wave"] for item in items])
    labels = torch.tensor([item["label"] for item in items])
    return waves.unsqueeze(1), labels


class KeywordNet(nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 64, stride=8)
        self.conv1 = nn.Conv1d(channels, channels * 2, 9, stride=4)
        self.conv2 = nn.Conv1d(channels * 2, channels * 2, 5, stride=2)
        self.head = nn.Linear(channels * 2, len(WORDS))

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.head(x.amax(dim=-1))


train_loader = DataLoader(
    SyntheticCommands(1200, seed=0), batch_size=32, shuffle=True, collate_fn=collate
)
valid_loader = DataLoader(SyntheticCommands(300, seed=1), batch_size=64, collate_fn=collate)

net = KeywordNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def run_epoch(loader, training):
    net.train(training)
    loss_sum, hits, seen = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for waves, labels in loader:
            logits = net(waves)
            loss = F.cross_entropy(logits, labels)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(labels)
            hits += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
    return loss_sum / seen, hits / seen


for epoch in range(5):
    train_loss, train_acc = run_epoch(train_loader, True)
    valid_loss, valid_acc = run_epoch(valid_loader, False)
    print(
        f"epoch {epoch} train {train_loss:.3f}/{train_acc:.3f} "
        f"valid {valid_loss:.3f}/{valid_acc:.3f}"
    )
'''

CURED = r'''import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(1)

SAMPLE_RATE, SECONDS = 8000, 1.0
LENGTH = int(SAMPLE_RATE * SECONDS)
WORDS = ["yes", "no", "stop", "go", "left", "right"]


class SyntheticCommands(Dataset):
    def __init__(self, size, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(LENGTH, dtype=np.float32) / SAMPLE_RATE
        self.labels = rng.integers(0, len(WORDS), size)
        self.clips = []
        for label in self.labels:
            f0 = 220.0 * (1 + label) * rng.uniform(0.95, 1.05)
            envelope = np.exp(-0.5 * ((t - rng.uniform(0.3, 0.7)) / 0.12) ** 2)
            clip = envelope * np.sin(2 * np.pi * f0 * t) + 0.8 * rng.standard_normal(LENGTH)
            self.clips.append(clip.astype(np.float32))

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        clip = self.clips[i]
        return {"wave": clip / np.abs(clip).max(), "label": int(self.labels[i])}


def collate(items):
    waves = torch.from_numpy(np.stack([item["wave"] for item in items]))
    labels = torch.tensor([item["label"] for item in items])
    return waves.unsqueeze(1), labels


class KeywordNet(nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 64, stride=8)
        self.conv1 = nn.Conv1d(channels, channels * 2, 9, stride=4)
        self.conv2 = nn.Conv1d(channels * 2, channels * 2, 5, stride=2)
        self.head = nn.Linear(channels * 2, len(WORDS))

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.head(x.amax(dim=-1))


train_loader = DataLoader(
    SyntheticCommands(1200, seed=0), batch_size=32, shuffle=True, collate_fn=collate
)
valid_loader = DataLoader(SyntheticCommands(300, seed=1), batch_size=64, collate_fn=collate)

net = KeywordNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def run_epoch(loader, training):
    net.train(training)
    loss_sum, hits, seen = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for waves, labels in loader:
            logits = net(waves)
            loss = F.cross_entropy(logits, labels)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(labels)
            hits += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
    return loss_sum / seen, hits / seen


for epoch in range(5):
    train_loss, train_acc = run_epoch(train_loader, True)
    valid_loss, valid_acc = run_epoch(valid_loader, False)
    print(
        f"epoch {epoch} train {train_loss:.3f}/{train_acc:.3f} "
        f"valid {valid_loss:.3f}/{valid_acc:.3f}"
    )
'''
