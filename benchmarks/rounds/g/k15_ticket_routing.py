NAME = 'Support-ticket routing with an LSTM'
FAULT = 'Every ticket is padded to the longest of the whole data set, so the LSTM mostly runs over padding.'
CURE = 'Pad (trim) each batch only to its own longest ticket in the collate function.'
KIND = 'time'
FAULT_LINES = [
    'ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)',
    'MAX_LEN = max(len(t) for t, _ in tickets)',
    'h, _ = self.lstm(self.emb(ids))',
]
FAULT_CALLS = ['LSTM.forward', 'aten::lstm', 'collate', 'Router.forward']
FAULTY = r"""import random

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(41)
random.seed(41)

teams = ["billing", "network", "hardware", "accounts", "refunds"]
special = {t: [f"{t}_{i}" for i in range(25)] for t in teams}
common = [f"w{i}" for i in range(400)]


def write_ticket():
    team = random.choice(teams)
    n = min(400, max(5, int(random.lognormvariate(2.9, 0.9))))
    words = [random.choice(special[team]) if random.random() < 0.15 else random.choice(common) for _ in range(n)]
    return words, teams.index(team)


tickets = [write_ticket() for _ in range(2500)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for t, _ in tickets for w in t}))}
MAX_LEN = max(len(t) for t, _ in tickets)
lengths = sorted(len(t) for t, _ in tickets)
print(f"{len(tickets)} tickets, median length {lengths[len(lengths) // 2]}, longest {MAX_LEN}")

encoded = [(torch.tensor([vocab[w] for w in t]), label) for t, label in tickets]


def collate(batch):
    ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    for row, (seq, _) in zip(ids, batch):
        row[: len(seq)] = seq
    return ids, torch.tensor([label for _, label in batch])


class Router(nn.Module):
    def __init__(self, n_words, emb=32, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(n_words + 1, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(teams))

    def forward(self, ids):
        keep = (ids != 0).unsqueeze(-1)
        h, _ = self.lstm(self.emb(ids))
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.head(pooled)


train_dl = DataLoader(encoded[:2000], batch_size=20, shuffle=True, collate_fn=collate)
test_dl = DataLoader(encoded[2000:], batch_size=50, collate_fn=collate)

model = Router(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(3):
    model.train()
    seen = total = 0
    for ids, label in train_dl:
        loss = nn.functional.cross_entropy(model(ids), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(label)
        seen += len(label)
    model.eval()
    with torch.no_grad():
        hits = sum((model(ids).argmax(1) == label).sum().item() for ids, label in test_dl)
    print(f"epoch {epoch + 1}: loss {total / seen:.3f}  accuracy {hits / 500:.3f}")
"""
CURED = r"""import random

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(41)
random.seed(41)

teams = ["billing", "network", "hardware", "accounts", "refunds"]
special = {t: [f"{t}_{i}" for i in range(25)] for t in teams}
common = [f"w{i}" for i in range(400)]


def write_ticket():
    team = random.choice(teams)
    n = min(400, max(5, int(random.lognormvariate(2.9, 0.9))))
    words = [random.choice(special[team]) if random.random() < 0.15 else random.choice(common) for _ in range(n)]
    return words, teams.index(team)


tickets = [write_ticket() for _ in range(2500)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for t, _ in tickets for w in t}))}
MAX_LEN = max(len(t) for t, _ in tickets)
lengths = sorted(len(t) for t, _ in tickets)
print(f"{len(tickets)} tickets, median length {lengths[len(lengths) // 2]}, longest {MAX_LEN}")

encoded = [(torch.tensor([vocab[w] for w in t]), label) for t, label in tickets]


def collate(batch):
    ids = torch.zeros(len(batch), max(len(seq) for seq, _ in batch), dtype=torch.long)
    for row, (seq, _) in zip(ids, batch):
        row[: len(seq)] = seq
    return ids, torch.tensor([label for _, label in batch])


class Router(nn.Module):
    def __init__(self, n_words, emb=32, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(n_words + 1, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(teams))

    def forward(self, ids):
        keep = (ids != 0).unsqueeze(-1)
        h, _ = self.lstm(self.emb(ids))
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.head(pooled)


train_dl = DataLoader(encoded[:2000], batch_size=20, shuffle=True, collate_fn=collate)
test_dl = DataLoader(encoded[2000:], batch_size=50, collate_fn=collate)

model = Router(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(3):
    model.train()
    seen = total = 0
    for ids, label in train_dl:
        loss = nn.functional.cross_entropy(model(ids), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(label)
        seen += len(label)
    model.eval()
    with torch.no_grad():
        hits = sum((model(ids).argmax(1) == label).sum().item() for ids, label in test_dl)
    print(f"epoch {epoch + 1}: loss {total / seen:.3f}  accuracy {hits / 500:.3f}")
"""
