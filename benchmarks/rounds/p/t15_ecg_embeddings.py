NAME = 'Embeds simulated ECG strips with a GRU encoder and fits a logistic regression on the embeddings.'
FAULT = 'The kept last-step slices are views, so the GRU outputs of all steps of all strips stay in memory.'
CURE = 'Append a copy: out[:, -1].clone().'
KIND = 'memory'
FAULT_LINES = [
    'bank.append(out[:, -1])',
    'out, _ = self.rnn(F.relu(self.front(x)).transpose(1, 2))',
    'out = encoder(strips[i:i + 50])',
]
FAULT_CALLS = ['append', 'gru', 'GRU', 'encoder', 'forward', '__getitem__', 'embed']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

torch.set_num_threads(1)
torch.manual_seed(6)


def ecg(n, length=960):
    label = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 8, length)
    rate = 1.0 + 0.25 * torch.rand(n, 1) + 0.15 * label[:, None]
    jitter = 0.2 * label[:, None] * torch.sin(1.7 * t[None] + 6.28 * torch.rand(n, 1))
    phase = (rate * t[None] + jitter) % 1.0
    wave = torch.exp(-((phase - 0.3) / 0.02) ** 2) + 0.25 * torch.exp(-((phase - 0.55) / 0.06) ** 2)
    wave = wave + 0.12 * label[:, None] * torch.ones(length)
    return (wave + 0.1 * torch.randn(n, length))[:, None, :], label


class StripEncoder(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.front = nn.Conv1d(1, 24, 9, stride=4, padding=4)
        self.rnn = nn.GRU(24, hidden, batch_first=True)

    def forward(self, x):
        out, _ = self.rnn(F.relu(self.front(x)).transpose(1, 2))
        return out


def embed(encoder, strips):
    bank = []
    encoder.eval()
    with torch.no_grad():
        for i in range(0, len(strips), 50):
            out = encoder(strips[i:i + 50])
            bank.append(out[:, -1])
    return torch.cat(bank).numpy()


strips, label = ecg(6600)
encoder = StripEncoder()
Z = embed(encoder, strips)
print('embeddings', Z.shape, 'mean norm', round(float(np.linalg.norm(Z, axis=1).mean()), 3))
clf = LogisticRegression(max_iter=300, C=0.5)
scores = cross_val_score(clf, Z, label.numpy(), cv=3)
print('accuracy', np.round(scores, 2))
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

torch.set_num_threads(1)
torch.manual_seed(6)


def ecg(n, length=960):
    label = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 8, length)
    rate = 1.0 + 0.25 * torch.rand(n, 1) + 0.15 * label[:, None]
    jitter = 0.2 * label[:, None] * torch.sin(1.7 * t[None] + 6.28 * torch.rand(n, 1))
    phase = (rate * t[None] + jitter) % 1.0
    wave = torch.exp(-((phase - 0.3) / 0.02) ** 2) + 0.25 * torch.exp(-((phase - 0.55) / 0.06) ** 2)
    wave = wave + 0.12 * label[:, None] * torch.ones(length)
    return (wave + 0.1 * torch.randn(n, length))[:, None, :], label


class StripEncoder(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.front = nn.Conv1d(1, 24, 9, stride=4, padding=4)
        self.rnn = nn.GRU(24, hidden, batch_first=True)

    def forward(self, x):
        out, _ = self.rnn(F.relu(self.front(x)).transpose(1, 2))
        return out


def embed(encoder, strips):
    bank = []
    encoder.eval()
    with torch.no_grad():
        for i in range(0, len(strips), 50):
            out = encoder(strips[i:i + 50])
            bank.append(out[:, -1].clone())
    return torch.cat(bank).numpy()


strips, label = ecg(6600)
encoder = StripEncoder()
Z = embed(encoder, strips)
print('embeddings', Z.shape, 'mean norm', round(float(np.linalg.norm(Z, axis=1).mean()), 3))
clf = LogisticRegression(max_iter=300, C=0.5)
scores = cross_val_score(clf, Z, label.numpy(), cv=3)
print('accuracy', np.round(scores, 2))
"""
