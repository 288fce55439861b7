NAME = 'Trains a 1-D CNN with dropout on synthetic machine sounds and estimates its uncertainty with 24 stochastic passes.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The evaluation runs in train mode and feeds the same clips through the network 24 times, but that is Monte-Carlo dropout: the passes differ, dropout is at the input already so that no layer can be shared between the passes, and no gradients are recorded.'

GOOD = r'''
import math

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

RATE, LENGTH, BATCH, EPOCHS, PASSES = 4000, 2000, 40, 8, 24
KINDS = ["healthy", "bearing", "loose"]


def machine_clips(n, strangeness=0.0):
    """Motor harmonics; a bearing adds clicks, a loose mount adds a slow beat."""
    t = torch.arange(LENGTH) / RATE
    label = torch.arange(n) % 3
    base = 48 + 6 * torch.rand(n, 1)
    phase = 2 * math.pi * torch.rand(n, 1)
    clip = sum(torch.sin(2 * math.pi * base * k * t + k * phase) / k for k in (1, 2, 3, 5))
    clicks = torch.exp(-60 * torch.remainder(t * (17 + 4 * torch.rand(n, 1)), 1.0))
    clicks = clicks * torch.sin(2 * math.pi * 900 * t)
    beat = 1 + 0.6 * torch.sin(2 * math.pi * (5 + torch.rand(n, 1)) * t + phase)
    clip = torch.where((label == 1)[:, None], clip + 0.9 * clicks, clip)
    clip = torch.where((label == 2)[:, None], clip * beat, clip)
    odd = torch.sin(2 * math.pi * (300 + 900 * t * torch.rand(n, 1)) * t)
    clip = clip + strangeness * odd + 0.2 * torch.randn(n, LENGTH)
    return (clip / clip.std(1, keepdim=True))[:, None], label


class SoundNet(nn.Module):
    def __init__(self, p=0.08):
        super().__init__()
        self.p = p
        self.convs = nn.ModuleList([
            nn.Conv1d(1, 24, 32, stride=4, padding=14),
            nn.Conv1d(24, 40, 9, stride=2, padding=4),
            nn.Conv1d(40, 56, 9, stride=2, padding=4),
            nn.Conv1d(56, 64, 5, stride=2, padding=2)])
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        x = F.dropout(x, 0.05, self.training)
        for conv in self.convs:
            x = F.dropout1d(F.relu(conv(x)), self.p, self.training)
        return self.head(x.amax(2))


@torch.no_grad()
def uncertain_predict(net, clips):
    net.train()
    rows = []
    for part in clips.split(BATCH):
        votes = torch.stack([F.softmax(net(part), dim=1) for _ in range(PASSES)])
        mean = votes.mean(0)
        total = -(mean * mean.clamp_min(1e-9).log()).sum(1)
        noise = -(votes * votes.clamp_min(1e-9).log()).sum(2).mean(0)
        rows.append(torch.stack([mean.argmax(1).float(), total, total - noise], dim=1))
    return torch.cat(rows).numpy()


train_x, train_y = machine_clips(1200)
net = SoundNet()
opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
for epoch in range(EPOCHS):
    net.train()
    total = 0.0
    for pick in torch.randperm(len(train_x)).split(BATCH):
        loss = F.cross_entropy(net(train_x[pick]), train_y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(pick)
    print(f"epoch {epoch}: loss {total / len(train_x):.3f}")

frames = []
for name, strangeness in (("usual", 0.0), ("strange", 1.5)):
    x, y = machine_clips(480, strangeness)
    out = uncertain_predict(net, x)
    frames.append(pd.DataFrame({
        "set": name, "kind": np.array(KINDS)[y.numpy()], "hit": out[:, 0] == y.numpy(),
        "entropy": out[:, 1], "knowledge": out[:, 2]}))
report = pd.concat(frames).groupby(["set", "kind"]).mean().round(3)
print(report)
'''
