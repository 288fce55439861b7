NAME = 'sentiment of short reviews with a GRU'
FAULT = 'every review is padded to a global MAX_LEN of 220 although nearly all have fewer than 50 tokens, so the GRU runs mostly over padding'
CURE = 'pad in collate only to the longest review of the batch'
KIND = 'time'
FAULT_LINES = ['ids = ids + [0] * (MAX_LEN - len(ids))', 'out, _ = self.gru(self.emb(ids))', 'logits = model(ids, lens)', 'loss.backward()']
FAULT_CALLS = ['nn.GRU', 'torch.gru', 'aten::gru', 'Tensor.backward', 'encode']
FAULTY = '''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(4); torch.manual_seed(4)
VOCAB, MAX_LEN, N = 3000, 220, 2000


def fake_review():
    label = random.randint(0, 1)
    n = MAX_LEN if random.random() < 0.001 else int(random.gauss(28, 8))
    n = max(5, min(n, MAX_LEN))
    lo = 1 if label else VOCAB // 3
    return [random.randint(lo, lo + VOCAB // 2) for _ in range(n)], label


def encode(review):
    ids, label = review
    length = len(ids)
    ids = ids + [0] * (MAX_LEN - len(ids))
    return torch.tensor(ids), length, label


def collate(batch):
    ids, lens, labels = zip(*batch)
    return pad_sequence(ids, batch_first=True), torch.tensor(lens), torch.tensor(labels)


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 64, padding_idx=0)
        self.gru = nn.GRU(64, 128, batch_first=True)
        self.fc = nn.Linear(128, 2)

    def forward(self, ids, lens):
        out, _ = self.gru(self.emb(ids))
        last = out[torch.arange(len(ids)), lens - 1]
        return self.fc(last)


data = [encode(fake_review()) for _ in range(N)]
loader = DataLoader(data, batch_size=50, shuffle=True, collate_fn=collate)
model = Sentiment()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1):
    hits = 0
    for ids, lens, labels in loader:
        logits = model(ids, lens)
        loss = F.cross_entropy(logits, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == labels).sum().item()
    print(f"epoch {epoch}: acc {hits / N:.3f}")
'''
CURED = '''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(4); torch.manual_seed(4)
VOCAB, MAX_LEN, N = 3000, 220, 2000


def fake_review():
    label = random.randint(0, 1)
    n = MAX_LEN if random.random() < 0.001 else int(random.gauss(28, 8))
    n = max(5, min(n, MAX_LEN))
    lo = 1 if label else VOCAB // 3
    return [random.randint(lo, lo + VOCAB // 2) for _ in range(n)], label


def encode(review):
    ids, label = review
    length = len(ids)
    return torch.tensor(ids), length, label


def collate(batch):
    ids, lens, labels = zip(*batch)
    return pad_sequence(ids, batch_first=True), torch.tensor(lens), torch.tensor(labels)


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 64, padding_idx=0)
        self.gru = nn.GRU(64, 128, batch_first=True)
        self.fc = nn.Linear(128, 2)

    def forward(self, ids, lens):
        out, _ = self.gru(self.emb(ids))
        last = out[torch.arange(len(ids)), lens - 1]
        return self.fc(last)


data = [encode(fake_review()) for _ in range(N)]
loader = DataLoader(data, batch_size=50, shuffle=True, collate_fn=collate)
model = Sentiment()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1):
    hits = 0
    for ids, lens, labels in loader:
        logits = model(ids, lens)
        loss = F.cross_entropy(logits, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == labels).sum().item()
    print(f"epoch {epoch}: acc {hits / N:.3f}")
'''
