NAME = 'Trains a convolutional sentiment classifier with masked mean pooling on reviews of very different lengths.'
FAULT = 'The collate function pads every batch to MAX_LEN, the longest review of the whole corpus, so most of the convolution works on padding.'
CURE = 'Pad each batch only to the longest review in that batch.'
KIND = 'time'
FAULT_LINES = ['ids = torch.zeros(len(texts), MAX_LEN, dtype=torch.long)', 'h = F.relu(self.conv1(h)) * mask', 'h = F.relu(self.conv2(h)) * mask', 'loss.backward()']
FAULT_CALLS = ['collate', 'zeros', 'conv1d', 'Conv1d', 'convolution', 'convolution_backward', 'forward', 'backward', 'embedding', 'relu']

FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = random.Random(0)

VOCAB, MAX_LEN, DIM = 4000, 320, 96


def make_review():
    label = rng.randint(0, 1)
    n = min(MAX_LEN, max(6, int(rng.lognormvariate(3.4, 0.4) * (6 if rng.random() < 0.002 else 1))))
    tokens = [rng.randint(200, VOCAB - 1) for _ in range(n)]
    for k in range(n):
        if rng.random() < 0.12:
            tokens[k] = rng.randint(1, 99) + (100 if label else 0)
    return tokens, label


reviews = [make_review() for _ in range(2400)]
train, valid = reviews[:2000], reviews[2000:]
lengths = [len(t) for t, _ in reviews]
print("mean length", sum(lengths) / len(lengths), "longest", max(lengths))


def collate(batch):
    texts, labels = zip(*batch)
    ids = torch.zeros(len(texts), MAX_LEN, dtype=torch.long)
    for row, toks in enumerate(texts):
        ids[row, :len(toks)] = torch.tensor(toks)
    return ids, torch.tensor(labels)


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.conv1 = nn.Conv1d(DIM, 128, 5, padding=2)
        self.conv2 = nn.Conv1d(128, 128, 3, padding=1)
        self.out = nn.Linear(128, 2)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(1).float()
        h = self.emb(ids).transpose(1, 2)
        h = F.relu(self.conv1(h)) * mask
        h = F.relu(self.conv2(h)) * mask
        pooled = h.sum(2) / mask.sum(2)
        return self.out(pooled)


gen = torch.Generator().manual_seed(1)
train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate, generator=gen)
valid_dl = DataLoader(valid, batch_size=50, collate_fn=collate)

model = TextCNN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    model.train()
    running = 0.0
    for ids, y in train_dl:
        loss = F.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    model.eval()
    valid_loss = 0.0
    with torch.no_grad():
        for ids, y in valid_dl:
            valid_loss += F.cross_entropy(model(ids), y, reduction="sum").item()
    print(f"epoch {epoch}: loss {running / len(train):.3f}, valid loss {valid_loss / len(valid):.3f}")
'''

CURED = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = random.Random(0)

VOCAB, MAX_LEN, DIM = 4000, 320, 96


def make_review():
    label = rng.randint(0, 1)
    n = min(MAX_LEN, max(6, int(rng.lognormvariate(3.4, 0.4) * (6 if rng.random() < 0.002 else 1))))
    tokens = [rng.randint(200, VOCAB - 1) for _ in range(n)]
    for k in range(n):
        if rng.random() < 0.12:
            tokens[k] = rng.randint(1, 99) + (100 if label else 0)
    return tokens, label


reviews = [make_review() for _ in range(2400)]
train, valid = reviews[:2000], reviews[2000:]
lengths = [len(t) for t, _ in reviews]
print("mean length", sum(lengths) / len(lengths), "longest", max(lengths))


def collate(batch):
    texts, labels = zip(*batch)
    width = max(len(t) for t in texts)
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    for row, toks in enumerate(texts):
        ids[row, :len(toks)] = torch.tensor(toks)
    return ids, torch.tensor(labels)


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.conv1 = nn.Conv1d(DIM, 128, 5, padding=2)
        self.conv2 = nn.Conv1d(128, 128, 3, padding=1)
        self.out = nn.Linear(128, 2)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(1).float()
        h = self.emb(ids).transpose(1, 2)
        h = F.relu(self.conv1(h)) * mask
        h = F.relu(self.conv2(h)) * mask
        pooled = h.sum(2) / mask.sum(2)
        return self.out(pooled)


gen = torch.Generator().manual_seed(1)
train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate, generator=gen)
valid_dl = DataLoader(valid, batch_size=50, collate_fn=collate)

model = TextCNN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(2):
    model.train()
    running = 0.0
    for ids, y in train_dl:
        loss = F.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    model.eval()
    valid_loss = 0.0
    with torch.no_grad():
        for ids, y in valid_dl:
            valid_loss += F.cross_entropy(model(ids), y, reduction="sum").item()
    print(f"epoch {epoch}: loss {running / len(train):.3f}, valid loss {valid_loss / len(valid):.3f}")
'''
