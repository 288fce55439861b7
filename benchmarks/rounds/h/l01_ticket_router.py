NAME = 'Trains a GRU classifier that routes support tickets of very different lengths to departments.'
FAULT = 'Every batch is padded to the longest ticket of the whole corpus (300 tokens, one outlier), so the GRU mostly runs over padding.'
CURE = 'Pad each batch only to its own longest ticket in collate.'
KIND = 'time'
FAULT_LINES = [
    'ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)',
    'MAX_LEN = max(train_set.max_len, test_set.max_len)',
    'states, _ = self.gru(self.emb(ids))',
]
FAULT_CALLS = ['collate', 'gru', 'GRU.forward', 'forward', 'torch.gru', 'aten::gru', 'aten::mm', 'aten::addmm', 'aten::linear', 'aten::_thnn_fused_gru_cell', 'backward']
FAULTY = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

# ---- support tickets (already tokenised), label = department -------------
VOCAB = 3000
DEPARTMENTS = ['billing', 'network', 'hardware', 'sales', 'legal', 'other']
N_TICKETS = 1280
EPOCHS = 3

rng = np.random.default_rng(3)
word_dist = rng.dirichlet(np.full(VOCAB - 1, 0.08), len(DEPARTMENTS))


def make_tickets(n):
    tickets = []
    lengths = np.clip(rng.lognormal(3.0, 0.6, n), 4, 300).astype(int)
    lengths[n // 2] = 300          # somebody pasted a whole log file
    for length in lengths:
        dep = int(rng.integers(len(DEPARTMENTS)))
        words = 1 + rng.choice(VOCAB - 1, size=length, p=word_dist[dep])
        noise = rng.random(length) < 0.5
        words[noise] = rng.integers(1, VOCAB, noise.sum())
        tickets.append((words.tolist(), dep))
    return tickets


class TicketDataset(Dataset):
    def __init__(self, tickets):
        self.tickets = tickets
        self.max_len = max(len(t) for t, _ in tickets)

    def __len__(self):
        return len(self.tickets)

    def __getitem__(self, i):
        tokens, dep = self.tickets[i]
        return torch.tensor(tokens), dep


train_set = TicketDataset(make_tickets(N_TICKETS))
test_set = TicketDataset(make_tickets(400))
MAX_LEN = max(train_set.max_len, test_set.max_len)


def collate(batch):
    ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    for row, (tokens, _) in enumerate(batch):
        ids[row, :len(tokens)] = tokens
    deps = torch.tensor([d for _, d in batch])
    return ids, deps


class TicketRouter(nn.Module):
    def __init__(self, dim=64, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(DEPARTMENTS))

    def forward(self, ids):
        mask = (ids != 0).float().unsqueeze(-1)
        states, _ = self.gru(self.emb(ids))
        pooled = (states * mask).sum(1) / mask.sum(1)
        return self.out(pooled)


train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=64, collate_fn=collate)
model = TicketRouter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for ids, deps in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids), deps)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item() * len(deps)

    model.eval()
    hits = 0
    with torch.no_grad():
        for ids, deps in test_loader:
            hits += (model(ids).argmax(1) == deps).sum().item()
    print(f'epoch {epoch}: loss {running / len(train_set):.3f}, '
          f'routed correctly {hits / len(test_set):.3f}')
"""
CURED = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

# ---- support tickets (already tokenised), label = department -------------
VOCAB = 3000
DEPARTMENTS = ['billing', 'network', 'hardware', 'sales', 'legal', 'other']
N_TICKETS = 1280
EPOCHS = 3

rng = np.random.default_rng(3)
word_dist = rng.dirichlet(np.full(VOCAB - 1, 0.08), len(DEPARTMENTS))


def make_tickets(n):
    tickets = []
    lengths = np.clip(rng.lognormal(3.0, 0.6, n), 4, 300).astype(int)
    lengths[n // 2] = 300          # somebody pasted a whole log file
    for length in lengths:
        dep = int(rng.integers(len(DEPARTMENTS)))
        words = 1 + rng.choice(VOCAB - 1, size=length, p=word_dist[dep])
        noise = rng.random(length) < 0.5
        words[noise] = rng.integers(1, VOCAB, noise.sum())
        tickets.append((words.tolist(), dep))
    return tickets


class TicketDataset(Dataset):
    def __init__(self, tickets):
        self.tickets = tickets
        self.max_len = max(len(t) for t, _ in tickets)

    def __len__(self):
        return len(self.tickets)

    def __getitem__(self, i):
        tokens, dep = self.tickets[i]
        return torch.tensor(tokens), dep


train_set = TicketDataset(make_tickets(N_TICKETS))
test_set = TicketDataset(make_tickets(400))
MAX_LEN = max(train_set.max_len, test_set.max_len)


def collate(batch):
    ids = torch.zeros(len(batch), max(len(t) for t, _ in batch), dtype=torch.long)
    for row, (tokens, _) in enumerate(batch):
        ids[row, :len(tokens)] = tokens
    deps = torch.tensor([d for _, d in batch])
    return ids, deps


class TicketRouter(nn.Module):
    def __init__(self, dim=64, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(DEPARTMENTS))

    def forward(self, ids):
        mask = (ids != 0).float().unsqueeze(-1)
        states, _ = self.gru(self.emb(ids))
        pooled = (states * mask).sum(1) / mask.sum(1)
        return self.out(pooled)


train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_set, batch_size=64, collate_fn=collate)
model = TicketRouter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for ids, deps in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids), deps)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item() * len(deps)

    model.eval()
    hits = 0
    with torch.no_grad():
        for ids, deps in test_loader:
            hits += (model(ids).argmax(1) == deps).sum().item()
    print(f'epoch {epoch}: loss {running / len(train_set):.3f}, '
          f'routed correctly {hits / len(test_set):.3f}')
"""
