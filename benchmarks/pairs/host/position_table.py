"""
number = 67
title = "Make the position table once"
family = "position_tables"
rule = "tensor_by_element"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 10
batch = 4
length = 16
width = 32
layers = 1

[sizes.cpu]
steps = 160
batch = 16
length = 40
width = 64
layers = 2

[sizes.host_bound]
steps = 40
batch = 16
length = 64
width = 64
layers = 2

[sizes.balanced]
steps = 30
batch = 256
length = 64
width = 128
layers = 4

[sizes.device_bound]
steps = 30
batch = 2048
length = 64
width = 256
layers = 6

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the table is made anew in each step too, but by a handful of operators on the device"
"""

# %% setup
import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, size.width)
        layer = nn.TransformerEncoderLayer(size.width, 4, 4 * size.width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, size.layers, enable_nested_tensor=False)
        self.head = nn.Linear(size.width, 17)

    def forward(self, tokens, positions):
        return self.head(self.encoder(self.embed(tokens) + positions))


def position_table(length, width):
    """Sines and cosines of each position ("Attention is all you need", 3.5)."""
    table = torch.zeros(length, width)
    for place in range(length):
        for column in range(0, width, 2):
            angle = place / 10000 ** (column / width)
            table[place, column] = math.sin(angle)
            table[place, column + 1] = math.cos(angle)
    return table


model = Tagger().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
tokens = torch.randint(0, 500, (4, size.batch, size.length), device=device)
tags = torch.randint(0, 17, (4, size.batch, size.length), device=device)

# %% bad
for step in range(size.steps):
    optimizer.zero_grad()
    positions = position_table(size.length, size.width).to(device)  # <- tensor_by_element
    scores = model(tokens[step % 4], positions)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags[step % 4].flatten())
    loss.backward()
    optimizer.step()

# %% good
positions = position_table(size.length, size.width).to(device)
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(tokens[step % 4], positions)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags[step % 4].flatten())
    loss.backward()
    optimizer.step()

# %% negative
for step in range(size.steps):
    optimizer.zero_grad()
    places = torch.arange(size.length, device=device)[:, None]
    rates = 10000 ** (-torch.arange(0, size.width, 2, device=device) / size.width)
    positions = torch.stack([torch.sin(places * rates), torch.cos(places * rates)], dim=2).flatten(1)
    scores = model(tokens[step % 4], positions)
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags[step % 4].flatten())
    loss.backward()
    optimizer.step()
