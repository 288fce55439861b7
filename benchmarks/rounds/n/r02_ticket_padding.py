NAME = 'Classifies synthetic support tickets of very uneven length with a GRU.'
FAULT = 'The collate function pads every batch to the longest ticket of the whole data set (a handful of giant ones), so the GRU runs over hundreds of padding steps that are masked afterwards.'
CURE = 'Pad each batch to the longest ticket in that batch.'
KIND = 'time'
FAULT_LINES = ['tokens = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)', 'MAX_LEN = max(len(tok) for tok, _ in tickets)', 'out, _ = self.gru(self.emb(tokens))', 'loss.backward()']
FAULT_CALLS = ['gru', 'GRU', 'collate', 'zeros', 'embedding', 'backward']
FAULTY = r"""
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
random.seed(3); np.random.seed(3); torch.manual_seed(3)

VOCAB, N_CLASSES = 3000, 5
topic_words = np.random.randint(10, VOCAB, size=(N_CLASSES, 60))

def make_ticket():
    label = np.random.randint(N_CLASSES)
    n = int(np.clip(np.random.lognormal(3.0, 0.5), 5, 70))
    if np.random.rand() < 0.004:            # someone pasted a log file
        n = np.random.randint(130, 230)
    tok = np.random.randint(10, VOCAB, size=n)
    mark = np.random.rand(n) < 0.25
    tok[mark] = np.random.choice(topic_words[label], size=mark.sum())
    return tok.tolist(), label

tickets = [make_ticket() for _ in range(2000)]
MAX_LEN = max(len(tok) for tok, _ in tickets)
print('tickets', len(tickets), 'median length', np.median([len(a) for a, _ in tickets]), 'longest', MAX_LEN)


class Tickets(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    tokens = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    for i, (tok, _) in enumerate(batch):
        tokens[i, :len(tok)] = torch.tensor(tok)
    labels = torch.tensor([y for _, y in batch])
    return tokens, labels


class TicketGRU(nn.Module):
    def __init__(self, d=48, h=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=0)
        self.gru = nn.GRU(d, h, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(h), nn.Linear(h, N_CLASSES))

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1).float()
        out, _ = self.gru(self.emb(tokens))
        pooled = (out * mask).sum(1) / mask.sum(1)
        return self.head(pooled)


train_dl = DataLoader(Tickets(tickets[:1650]), batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(Tickets(tickets[1650:]), batch_size=32, collate_fn=collate)
model = TicketGRU()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(3):
    model.train()
    total = 0.0
    for tokens, labels in train_dl:
        opt.zero_grad()
        loss = crit(model(tokens), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(labels)
    model.eval()
    confusion = np.zeros((N_CLASSES, N_CLASSES), dtype=int)
    with torch.no_grad():
        for tokens, labels in test_dl:
            pred = model(tokens).argmax(1)
            for a, b in zip(labels.tolist(), pred.tolist()):
                confusion[a, b] += 1
    print(f'epoch {epoch}: train loss {total / 1650:.4f}  test acc {np.trace(confusion) / confusion.sum():.4f}')
print(confusion)
"""
CURED = r"""
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
random.seed(3); np.random.seed(3); torch.manual_seed(3)

VOCAB, N_CLASSES = 3000, 5
topic_words = np.random.randint(10, VOCAB, size=(N_CLASSES, 60))

def make_ticket():
    label = np.random.randint(N_CLASSES)
    n = int(np.clip(np.random.lognormal(3.0, 0.5), 5, 70))
    if np.random.rand() < 0.004:            # someone pasted a log file
        n = np.random.randint(130, 230)
    tok = np.random.randint(10, VOCAB, size=n)
    mark = np.random.rand(n) < 0.25
    tok[mark] = np.random.choice(topic_words[label], size=mark.sum())
    return tok.tolist(), label

tickets = [make_ticket() for _ in range(2000)]
MAX_LEN = max(len(tok) for tok, _ in tickets)
print('tickets', len(tickets), 'median length', np.median([len(a) for a, _ in tickets]), 'longest', MAX_LEN)


class Tickets(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    longest = max(len(tok) for tok, _ in batch)
    tokens = torch.zeros(len(batch), longest, dtype=torch.long)
    for i, (tok, _) in enumerate(batch):
        tokens[i, :len(tok)] = torch.tensor(tok)
    labels = torch.tensor([y for _, y in batch])
    return tokens, labels


class TicketGRU(nn.Module):
    def __init__(self, d=48, h=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=0)
        self.gru = nn.GRU(d, h, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(h), nn.Linear(h, N_CLASSES))

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1).float()
        out, _ = self.gru(self.emb(tokens))
        pooled = (out * mask).sum(1) / mask.sum(1)
        return self.head(pooled)


train_dl = DataLoader(Tickets(tickets[:1650]), batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(Tickets(tickets[1650:]), batch_size=32, collate_fn=collate)
model = TicketGRU()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(3):
    model.train()
    total = 0.0
    for tokens, labels in train_dl:
        opt.zero_grad()
        loss = crit(model(tokens), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(labels)
    model.eval()
    confusion = np.zeros((N_CLASSES, N_CLASSES), dtype=int)
    with torch.no_grad():
        for tokens, labels in test_dl:
            pred = model(tokens).argmax(1)
            for a, b in zip(labels.tolist(), pred.tolist()):
                confusion[a, b] += 1
    print(f'epoch {epoch}: train loss {total / 1650:.4f}  test acc {np.trace(confusion) / confusion.sum():.4f}')
print(confusion)
"""
