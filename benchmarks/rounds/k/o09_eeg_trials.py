NAME = 'Trains a shallow network on EEG trials loaded from a MATLAB file.'
FAULT = 'The array keeps the trial index last, so that each trial is gathered from 3072 places 24 KB apart (a cache miss for every number).'
CURE = 'Put the trial axis first once after loading (np.ascontiguousarray(np.moveaxis(eeg, -1, 0))) and index the first axis.'
KIND = 'time'
FAULT_LINES = ['self.eeg = np.ascontiguousarray(mat["eeg"])', 'trial = self.eeg[:, :, i]', 'trial = trial - trial.mean(0, keepdims=True)']
FAULT_CALLS = ['__getitem__', 'mean', 'ascontiguousarray', 'subtract']
FAULTY = r"""
import os
import tempfile
import numpy as np
import scipy.io
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(6)
rng = np.random.default_rng(6)


def export_from_lab(path, n_trials=6000, channels=32, samples=96):
    '''The lab's script writes channels x samples x trials, one struct per session.'''
    t = np.arange(samples) / 128.0
    label = rng.integers(0, 4, n_trials)
    epochs = rng.standard_normal((channels, samples, n_trials), dtype=np.float32)
    for k in range(4):
        wave = np.sin(2 * np.pi * (8 + 5 * k) * t).astype(np.float32)
        weight = rng.standard_normal(channels).astype(np.float32)
        epochs[:, :, label == k] += 0.35 * (weight[:, None] * wave)[:, :, None]
    scipy.io.savemat(path, {"eeg": epochs, "label": label[None]})


class EEGTrials(Dataset):
    def __init__(self, mat_file, reference="average"):
        mat = scipy.io.loadmat(mat_file)
        self.eeg = np.ascontiguousarray(mat["eeg"])
        self.label = mat["label"].ravel().astype(np.int64)
        self.reference = reference

    def __len__(self):
        return self.eeg.shape[-1]

    def __getitem__(self, i):
        trial = self.eeg[:, :, i]
        if self.reference == "average":
            trial = trial - trial.mean(0, keepdims=True)
        return torch.from_numpy(np.ascontiguousarray(trial)), self.label[i]


class ShallowNet(nn.Module):
    def __init__(self, channels=32, filters=12):
        super().__init__()
        self.spatial = nn.Linear(channels, filters, bias=False)
        self.temporal = nn.Conv1d(filters, filters, 25, stride=4, groups=filters)
        self.norm = nn.BatchNorm1d(filters)
        self.head = nn.Linear(filters, 4)

    def forward(self, x):
        h = self.temporal(self.spatial(x.transpose(1, 2)).transpose(1, 2))
        power = self.norm(h).pow(2).mean(-1)
        return self.head(torch.log(power + 1e-4))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "session01.mat")
    export_from_lab(path)
    trials = EEGTrials(path)

train = torch.utils.data.Subset(trials, range(5000))
valid = torch.utils.data.Subset(trials, range(5000, 6000))
net = ShallowNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    for x, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in DataLoader(valid, batch_size=250))
    print(f"epoch {epoch} loss {loss.item():.2f} valid {right / len(valid):.2f}")
"""
CURED = r"""
import os
import tempfile
import numpy as np
import scipy.io
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(6)
rng = np.random.default_rng(6)


def export_from_lab(path, n_trials=6000, channels=32, samples=96):
    '''The lab's script writes channels x samples x trials, one struct per session.'''
    t = np.arange(samples) / 128.0
    label = rng.integers(0, 4, n_trials)
    epochs = rng.standard_normal((channels, samples, n_trials), dtype=np.float32)
    for k in range(4):
        wave = np.sin(2 * np.pi * (8 + 5 * k) * t).astype(np.float32)
        weight = rng.standard_normal(channels).astype(np.float32)
        epochs[:, :, label == k] += 0.35 * (weight[:, None] * wave)[:, :, None]
    scipy.io.savemat(path, {"eeg": epochs, "label": label[None]})


class EEGTrials(Dataset):
    def __init__(self, mat_file, reference="average"):
        mat = scipy.io.loadmat(mat_file)
        self.eeg = np.ascontiguousarray(np.moveaxis(mat["eeg"], -1, 0))
        self.label = mat["label"].ravel().astype(np.int64)
        self.reference = reference

    def __len__(self):
        return self.eeg.shape[0]

    def __getitem__(self, i):
        trial = self.eeg[i]
        if self.reference == "average":
            trial = trial - trial.mean(0, keepdims=True)
        return torch.from_numpy(np.ascontiguousarray(trial)), self.label[i]


class ShallowNet(nn.Module):
    def __init__(self, channels=32, filters=12):
        super().__init__()
        self.spatial = nn.Linear(channels, filters, bias=False)
        self.temporal = nn.Conv1d(filters, filters, 25, stride=4, groups=filters)
        self.norm = nn.BatchNorm1d(filters)
        self.head = nn.Linear(filters, 4)

    def forward(self, x):
        h = self.temporal(self.spatial(x.transpose(1, 2)).transpose(1, 2))
        power = self.norm(h).pow(2).mean(-1)
        return self.head(torch.log(power + 1e-4))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "session01.mat")
    export_from_lab(path)
    trials = EEGTrials(path)

train = torch.utils.data.Subset(trials, range(5000))
valid = torch.utils.data.Subset(trials, range(5000, 6000))
net = ShallowNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    net.train()
    for x, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in DataLoader(valid, batch_size=250))
    print(f"epoch {epoch} loss {loss.item():.2f} valid {right / len(valid):.2f}")
"""
