"""
number = 54
title = "Tokenise before the loop"
family = "texts"
rule = ["slow_transform", "input_stall"]
guard = "exact"
shows_on = "cpu"
whole_cell = true
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
reviews = 320
words = 120
batch = 32
width = 64
epochs = 2

[sizes.cpu]
reviews = 2560
words = 160
batch = 32
width = 32
epochs = 4

[sizes.host_bound]
reviews = 8192
words = 160
batch = 32
width = 128
epochs = 3

[sizes.balanced]
reviews = 8192
words = 160
batch = 64
width = 1024
epochs = 3

[sizes.device_bound]
reviews = 8192
words = 160
batch = 64
width = 4096
epochs = 3

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import random
import re

import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
draw = random.Random(0)
words = sorted({"".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(4000)})
vocabulary = {word: number for number, word in enumerate([*words, *".,!?'()"], start=1)}


def written():
    """A review as people type it."""
    chosen = draw.choices(words, k=size.words)
    marked = (word.capitalize() + draw.choice(["", "", "", ",", ".", "!", "<br />"]) for word in chosen)
    return " ".join(marked)


reviews = [written() for _ in range(size.reviews)]
kinds = [draw.randint(0, 1) for _ in reviews]

PATTERNS = [
    (re.compile(r"\'"), " ' "),
    (re.compile(r"\""), ""),
    (re.compile(r"\."), " . "),
    (re.compile(r"<br \/>"), " "),
    (re.compile(r","), " , "),
    (re.compile(r"\("), " ( "),
    (re.compile(r"\)"), " ) "),
    (re.compile(r"\!"), " ! "),
    (re.compile(r"\?"), " ? "),
    (re.compile(r"\s+"), " "),
]


def encode(text):
    text = text.lower()
    for pattern, instead in PATTERNS:
        text = pattern.sub(instead, text)
    numbers = [vocabulary.get(word, 0) for word in text.split()][: size.words]
    return torch.tensor(numbers)


class Reviews(Dataset):
    def __init__(self, texts, kinds, transform=None):
        self.texts, self.kinds, self.transform = texts, kinds, transform

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        text = self.texts[index]
        return self.transform(text) if self.transform else text, self.kinds[index]


class TextCNN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(len(vocabulary) + 1, size.width)
        self.convolve = torch.nn.Conv1d(size.width, size.width, 5, padding=2)
        self.head = torch.nn.Linear(size.width, 2)

    def forward(self, tokens):
        hidden = self.convolve(self.embed(tokens).transpose(1, 2)).relu()
        return self.head(hidden.amax(dim=2))


model = TextCNN().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
pin = device == "cuda"

# %% bad
dataset = Reviews(reviews, kinds, transform=encode)  # <- slow_transform
loader = DataLoader(dataset, batch_size=size.batch, shuffle=True, pin_memory=pin)  # <- slow_transform
losses = []
for epoch in range(size.epochs):
    for tokens, y in loader:  # <- input_stall
        optimizer.zero_grad()
        scores = model(tokens.to(device, non_blocking=True))
        loss = torch.nn.functional.cross_entropy(scores, y.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()
    losses.append(loss.item())

# %% good
dataset = Reviews([encode(review) for review in reviews], kinds)
loader = DataLoader(dataset, batch_size=size.batch, shuffle=True, pin_memory=pin)
losses = []
for epoch in range(size.epochs):
    for tokens, y in loader:
        optimizer.zero_grad()
        scores = model(tokens.to(device, non_blocking=True))
        loss = torch.nn.functional.cross_entropy(scores, y.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
