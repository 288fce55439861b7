NAME = 'Trains a 1-D convolutional activity recogniser on accelerometer windows and reports the effective rank of its activations after every epoch.'
FAULT = 'The forward hooks of the activation report are never removed, so each report adds another set that also runs in every training step.'
CURE = 'Keep the hook handles and remove them at the end of each report.'
KIND = 'time'
FAULT_LINES = ['layer.register_forward_hook(partial(record, stats, name))', 'ranks = activation_report(model, probe)', 'stats[name] = effective_rank(output.detach())']
FAULT_CALLS = ['register_forward_hook', 'record', 'effective_rank', 'eigvalsh']
FAULTY = r'''import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(14)

N_WINDOWS, LENGTH, CLASSES = 1600, 64, 6


def make_windows():
    y = torch.randint(0, CLASSES, (N_WINDOWS,))
    t = torch.arange(LENGTH) / 50.0
    freq = 0.8 + 0.45 * y.float() + 0.15 * torch.randn(N_WINDOWS)
    phase = 2 * math.pi * torch.rand(N_WINDOWS, 3)
    amp = 0.5 + torch.rand(N_WINDOWS, 3)
    wave = torch.sin(2 * math.pi * freq[:, None, None] * t + phase[..., None])
    return amp[..., None] * wave + 0.5 * torch.randn(N_WINDOWS, 3, LENGTH), y


def effective_rank(act):
    flat = act.transpose(0, 1).flatten(1)
    flat = flat - flat.mean(1, keepdim=True)
    spectrum = torch.linalg.eigvalsh(flat @ flat.T / flat.shape[1]).clamp(min=1e-9)
    p = spectrum / spectrum.sum()
    return torch.exp(-(p * p.log()).sum()).item()


def record(stats, name, module, inputs, output):
    stats[name] = effective_rank(output.detach())


@torch.no_grad()
def activation_report(model, probe):
    stats = {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Conv1d):
            layer.register_forward_hook(partial(record, stats, name))
    model(probe)
    return stats


class ActivityNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.conv1 = nn.Conv1d(3, width, 5, padding=2)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2)
        self.conv3 = nn.Conv1d(width, width, 5, padding=2)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.head(x.mean(2))


x, y = make_windows()
train, test = torch.arange(1280), torch.arange(1280, N_WINDOWS)
probe = x[test][:64]
model = ActivityNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(12):
    running = 0.0
    batches = train[torch.randperm(len(train))].split(40)
    for rows in batches:
        loss = F.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    with torch.no_grad():
        acc = (model(x[test]).argmax(1) == y[test]).float().mean().item()
    ranks = activation_report(model, probe)
    print(f"epoch {epoch}  loss {running / len(batches):.3f}  acc {acc:.3f}  "
          + "  ".join(f"{k} rank {v:.2f}" for k, v in ranks.items()))
'''
CURED = r'''import math
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(14)

N_WINDOWS, LENGTH, CLASSES = 1600, 64, 6


def make_windows():
    y = torch.randint(0, CLASSES, (N_WINDOWS,))
    t = torch.arange(LENGTH) / 50.0
    freq = 0.8 + 0.45 * y.float() + 0.15 * torch.randn(N_WINDOWS)
    phase = 2 * math.pi * torch.rand(N_WINDOWS, 3)
    amp = 0.5 + torch.rand(N_WINDOWS, 3)
    wave = torch.sin(2 * math.pi * freq[:, None, None] * t + phase[..., None])
    return amp[..., None] * wave + 0.5 * torch.randn(N_WINDOWS, 3, LENGTH), y


def effective_rank(act):
    flat = act.transpose(0, 1).flatten(1)
    flat = flat - flat.mean(1, keepdim=True)
    spectrum = torch.linalg.eigvalsh(flat @ flat.T / flat.shape[1]).clamp(min=1e-9)
    p = spectrum / spectrum.sum()
    return torch.exp(-(p * p.log()).sum()).item()


def record(stats, name, module, inputs, output):
    stats[name] = effective_rank(output.detach())


@torch.no_grad()
def activation_report(model, probe):
    stats, handles = {}, []
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Conv1d):
            handles.append(layer.register_forward_hook(partial(record, stats, name)))
    model(probe)
    for handle in handles:
        handle.remove()
    return stats


class ActivityNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.conv1 = nn.Conv1d(3, width, 5, padding=2)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2)
        self.conv3 = nn.Conv1d(width, width, 5, padding=2)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.head(x.mean(2))


x, y = make_windows()
train, test = torch.arange(1280), torch.arange(1280, N_WINDOWS)
probe = x[test][:64]
model = ActivityNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(12):
    running = 0.0
    batches = train[torch.randperm(len(train))].split(40)
    for rows in batches:
        loss = F.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    with torch.no_grad():
        acc = (model(x[test]).argmax(1) == y[test]).float().mean().item()
    ranks = activation_report(model, probe)
    print(f"epoch {epoch}  loss {running / len(batches):.3f}  acc {acc:.3f}  "
          + "  ".join(f"{k} rank {v:.2f}" for k, v in ranks.items()))
'''
