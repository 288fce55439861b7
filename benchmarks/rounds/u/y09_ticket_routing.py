NAME = 'Trains a small transformer that routes support tickets to one of six teams.'
FAULT = "Every batch keeps the fixed length of 128 tokens although tickets have about 25 to 60, so most of the transformer's work is done on padding."
CURE = 'Cut each batch to its longest ticket before the model sees it.'
KIND = 'time'
FAULT_LINES = ['return item + [PAD] * (MAX_LEN - len(item))', 'ids = torch.tensor([encode(t) for t, _ in batch])', 'logits = model(ids, mask)']
FAULT_CALLS = ['linear', 'scaled_dot_product_attention', 'gelu', 'layer_norm', 'backward']

FAULTY = r'''
import math, random, time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)

PAD, MAX_LEN, VOCAB, TEAMS = 0, 128, 4000, 6

# synthetic tickets: each team has its own set of typical words
WORDS = [f"w{i}" for i in range(VOCAB - 1)]
TOPIC = [WORDS[100 + 300 * k: 100 + 300 * k + 120] for k in range(TEAMS)]
STOI = {w: i + 1 for i, w in enumerate(WORDS)}

def make_ticket():
    team = random.randrange(TEAMS)
    n = random.randint(25, 60)
    if random.random() < 0.002:
        n = 120
    words = [random.choice(TOPIC[team]) if random.random() < 0.25 else random.choice(WORDS)
             for _ in range(n)]
    return " ".join(words), team

train_set = [make_ticket() for _ in range(1000)]
valid_set = [make_ticket() for _ in range(250)]

def encode(text):
    item = [STOI[w] for w in text.split()][:MAX_LEN]
    return item + [PAD] * (MAX_LEN - len(item))

def collate(batch):
    ids = torch.tensor([encode(t) for t, _ in batch])
    mask = ids != PAD
    return ids, mask, torch.tensor([y for _, y in batch])

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))

class Router(nn.Module):
    def __init__(self, d=128, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.head = nn.Linear(d, TEAMS)

    def forward(self, ids, mask):
        x = self.tok(ids) * math.sqrt(self.tok.embedding_dim)
        x = x + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, mask)
        m = mask.unsqueeze(-1).float()
        return self.head((x * m).sum(1) / m.sum(1))

gen = torch.Generator().manual_seed(5)
train_dl = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate, generator=gen)
valid_dl = DataLoader(valid_set, batch_size=64, collate_fn=collate)

model = Router()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
for epoch in range(3):
    model.train()
    total = 0.0
    for ids, mask, y in train_dl:
        logits = model(ids, mask)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, mask, y in valid_dl:
            correct += (model(ids, mask).argmax(1) == y).sum().item()
    print(f"epoch {epoch}  loss {total / len(train_set):.3f}  acc {correct / len(valid_set):.3f}")
'''

CURED = r'''
import math, random, time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(11)
random.seed(11)

PAD, MAX_LEN, VOCAB, TEAMS = 0, 128, 4000, 6

# synthetic tickets: each team has its own set of typical words
WORDS = [f"w{i}" for i in range(VOCAB - 1)]
TOPIC = [WORDS[100 + 300 * k: 100 + 300 * k + 120] for k in range(TEAMS)]
STOI = {w: i + 1 for i, w in enumerate(WORDS)}

def make_ticket():
    team = random.randrange(TEAMS)
    n = random.randint(25, 60)
    if random.random() < 0.002:
        n = 120
    words = [random.choice(TOPIC[team]) if random.random() < 0.25 else random.choice(WORDS)
             for _ in range(n)]
    return " ".join(words), team

train_set = [make_ticket() for _ in range(1000)]
valid_set = [make_ticket() for _ in range(250)]

def encode(text):
    item = [STOI[w] for w in text.split()][:MAX_LEN]
    return item + [PAD] * (MAX_LEN - len(item))

def collate(batch):
    ids = torch.tensor([encode(t) for t, _ in batch])
    ids = ids[:, : int((ids != PAD).sum(1).max())]
    mask = ids != PAD
    return ids, mask, torch.tensor([y for _, y in batch])

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))

class Router(nn.Module):
    def __init__(self, d=128, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.head = nn.Linear(d, TEAMS)

    def forward(self, ids, mask):
        x = self.tok(ids) * math.sqrt(self.tok.embedding_dim)
        x = x + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, mask)
        m = mask.unsqueeze(-1).float()
        return self.head((x * m).sum(1) / m.sum(1))

gen = torch.Generator().manual_seed(5)
train_dl = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate, generator=gen)
valid_dl = DataLoader(valid_set, batch_size=64, collate_fn=collate)

model = Router()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
for epoch in range(3):
    model.train()
    total = 0.0
    for ids, mask, y in train_dl:
        logits = model(ids, mask)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, mask, y in valid_dl:
            correct += (model(ids, mask).argmax(1) == y).sum().item()
    print(f"epoch {epoch}  loss {total / len(train_set):.3f}  acc {correct / len(valid_set):.3f}")
'''
