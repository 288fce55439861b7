NAME = 'Trains a small transformer encoder that sorts support tickets into topics.'
FAULT = 'Every batch is padded to the longest ticket of the whole corpus although nearly all tickets are less than half as long.'
CURE = 'Pad each batch only to the longest ticket in that batch.'
KIND = 'time'
FAULT_LINES = ['width = max(len(t) for t in corpus)', 'ids = torch.zeros(len(rows), width, dtype=torch.long)', 'ids, mask, y = collate(rows)']
FAULT_CALLS = ['collate', 'forward', 'linear', 'scaled_dot_product_attention', 'backward']
FAULTY = r'''import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)

VOCAB, TOPICS, DIM, HEADS = 4000, 6, 96, 4

# Made-up tickets: every topic prefers its own slice of the vocabulary.
corpus, topics = [], []
for i in range(2400):
    topic = random.randrange(TOPICS)
    n = 104 if i % 300 == 7 else random.randint(26, 42)
    lo = 1 + topic * 600
    corpus.append([random.randint(lo, lo + 599) if random.random() < 0.3 else random.randint(1, VOCAB - 1)
                   for _ in range(n)])
    topics.append(topic)
width = max(len(t) for t in corpus)


def collate(rows):
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for r, i in enumerate(rows):
        ids[r, :len(corpus[i])] = torch.tensor(corpus[i])
    return ids, ids != 0, torch.tensor([topics[i] for i in rows])


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class TicketModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.blocks = nn.ModuleList(Block(DIM, HEADS) for _ in range(2))
        self.head = nn.Linear(DIM, TOPICS)

    def forward(self, ids, mask):
        x = self.emb(ids)
        for block in self.blocks:
            x = block(x, mask)
        m = mask.unsqueeze(-1).float()
        return self.head((x * m).sum(1) / m.sum(1))


model = TicketModel()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
order = list(range(len(corpus)))

for epoch in range(3):
    random.shuffle(order)
    total, right = 0.0, 0
    for start in range(0, len(order), 32):
        rows = order[start:start + 32]
        ids, mask, y = collate(rows)
        logits = model(ids, mask)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
        right += (logits.argmax(1) == y).sum().item()
    print(f"epoch {epoch}  loss {total / len(order):.3f}  accuracy {right / len(order):.3f}")
'''
CURED = r'''import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)

VOCAB, TOPICS, DIM, HEADS = 4000, 6, 96, 4

# Made-up tickets: every topic prefers its own slice of the vocabulary.
corpus, topics = [], []
for i in range(2400):
    topic = random.randrange(TOPICS)
    n = 104 if i % 300 == 7 else random.randint(26, 42)
    lo = 1 + topic * 600
    corpus.append([random.randint(lo, lo + 599) if random.random() < 0.3 else random.randint(1, VOCAB - 1)
                   for _ in range(n)])
    topics.append(topic)


def collate(rows):
    width = max(len(corpus[i]) for i in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for r, i in enumerate(rows):
        ids[r, :len(corpus[i])] = torch.tensor(corpus[i])
    return ids, ids != 0, torch.tensor([topics[i] for i in rows])


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class TicketModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.blocks = nn.ModuleList(Block(DIM, HEADS) for _ in range(2))
        self.head = nn.Linear(DIM, TOPICS)

    def forward(self, ids, mask):
        x = self.emb(ids)
        for block in self.blocks:
            x = block(x, mask)
        m = mask.unsqueeze(-1).float()
        return self.head((x * m).sum(1) / m.sum(1))


model = TicketModel()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
order = list(range(len(corpus)))

for epoch in range(3):
    random.shuffle(order)
    total, right = 0.0, 0
    for start in range(0, len(order), 32):
        rows = order[start:start + 32]
        ids, mask, y = collate(rows)
        logits = model(ids, mask)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
        right += (logits.argmax(1) == y).sum().item()
    print(f"epoch {epoch}  loss {total / len(order):.3f}  accuracy {right / len(order):.3f}")
'''
