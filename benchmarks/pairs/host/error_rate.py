"""
number = 78
title = "Score a batch now and then, not in each step"
family = "spelling"
rule = "host_cpu_bound"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
steps = 12
batch = 8
letters = 12
width = 32

[sizes.cpu]
steps = 120
batch = 32
letters = 40
width = 144

[sizes.host_bound]
steps = 40
batch = 32
letters = 40
width = 128

[sizes.balanced]
steps = 40
batch = 128
letters = 60
width = 1024

[sizes.device_bound]
steps = 30
batch = 512
letters = 80
width = 2048

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "something is counted in each step here too, but by two operators on the device"
"""

# %% setup
import random

import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
draw = random.Random(0)
alphabet = " abcdefghijklmnopqrstuvwxyz.,"
texts = [["".join(draw.choices(alphabet, k=size.letters)) for _ in range(size.batch)] for _ in range(4)]
mistyped = [["".join(draw.choice([letter] * 4 + [","]) for letter in text) for text in page] for page in texts]


def codes(pages):
    return torch.tensor([[[alphabet.index(letter) for letter in text] for text in page] for page in pages]).to(device)


typed, meant = codes(mistyped), codes(texts)


class Speller(nn.Module):
    """Which letter was meant at each place."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(alphabet), size.width)
        self.convolve = nn.Sequential(
            nn.Conv1d(size.width, size.width, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(size.width, size.width, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(size.width, len(alphabet), 1),
        )

    def forward(self, letters):
        return self.convolve(self.embed(letters).transpose(1, 2))


def edits(one, other):
    """How many letters must be changed, added or dropped to make one text of the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        above, row[0] = row[0], place
        for column, wanted in enumerate(other, start=1):
            above, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, above + (letter != wanted))
    return row[-1]


class ErrorRate:
    """Wrong letters, for each letter of the texts."""

    def __init__(self):
        self.wrong = self.letters = 0

    def update(self, scores, texts):
        for guess, text in zip(scores.argmax(dim=1).tolist(), texts):
            self.wrong += edits("".join(alphabet[code] for code in guess), text)
            self.letters += len(text)

    def __float__(self):
        return self.wrong / self.letters


model = Speller().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %% bad
rate = ErrorRate()
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(typed[step % 4])
    loss = nn.functional.cross_entropy(scores, meant[step % 4])
    loss.backward()
    optimizer.step()
    rate.update(scores, texts[step % 4])  # <- host_cpu_bound
print(f"wrong letters: {float(rate):.3f}")

# %% good
rate = ErrorRate()
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(typed[step % 4])
    loss = nn.functional.cross_entropy(scores, meant[step % 4])
    loss.backward()
    optimizer.step()
    if step >= size.steps - 4:
        rate.update(scores, texts[step % 4])
print(f"wrong letters: {float(rate):.3f}")

# %% negative
right = torch.zeros((), device=device)
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(typed[step % 4])
    loss = nn.functional.cross_entropy(scores, meant[step % 4])
    loss.backward()
    optimizer.step()
    right += (scores.detach().argmax(dim=1) == meant[step % 4]).float().mean()
print(f"right letters: {right.item() / size.steps:.3f}")
