NAME = 'Classifies made-up reviews with a small transformer encoder, batches coming from a length-bucketed generator.'
FAULT = 'Every batch is padded to the global MAX_LEN of 256 tokens although most batches hold only short reviews, so the encoder works mostly on padding.'
CURE = 'Pad each batch only to its own longest review.'
KIND = 'time'
FAULT_LINES = ['ids = torch.full((len(chunk), MAX_LEN), PAD)', 'ids[row, :len(reviews[j])] = reviews[j]']
FAULT_CALLS = ['forward', 'TransformerEncoder', 'scaled_dot_product_attention', 'linear', 'backward', 'bucketed_batches']
FAULTY = r"""import math
import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(11)
rng = random.Random(11)

VOCAB, PAD, MAX_LEN, DIM = 3000, 0, 256, 64


def make_reviews(n):
    reviews, labels = [], []
    for _ in range(n):
        label = rng.randint(0, 1)
        length = min(MAX_LEN, max(8, int(rng.lognormvariate(4.45, 0.55))))
        tokens = torch.randint(1, VOCAB, (length,))
        opinion = torch.rand(length) < 0.12
        tokens[opinion] = 10 + 50 * label + torch.randint(0, 50, (int(opinion.sum()),))
        reviews.append(tokens)
        labels.append(label)
    return reviews, torch.tensor(labels, dtype=torch.float)


def bucketed_batches(reviews, labels, batch_size=32, shuffle=True):
    order = sorted(range(len(reviews)), key=lambda j: len(reviews[j]))
    chunks = [order[s:s + batch_size] for s in range(0, len(order), batch_size)]
    if shuffle:
        rng.shuffle(chunks)
    for chunk in chunks:
        ids = torch.full((len(chunk), MAX_LEN), PAD)
        for row, j in enumerate(chunk):
            ids[row, :len(reviews[j])] = reviews[j]
        yield ids, labels[chunk]


class ReviewEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        pos = torch.arange(MAX_LEN).unsqueeze(1)
        freq = torch.exp(torch.arange(0, DIM, 2) * (-math.log(1e4) / DIM))
        table = torch.zeros(MAX_LEN, DIM)
        table[:, 0::2] = torch.sin(pos * freq)
        table[:, 1::2] = torch.cos(pos * freq)
        self.register_buffer("table", table)
        layer = nn.TransformerEncoderLayer(DIM, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, 1)

    def forward(self, ids):
        pad = ids == PAD
        x = self.emb(ids) + 0.3 * self.table[:ids.shape[1]]
        x = self.encoder(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.head(pooled).squeeze(1)


train, train_y = make_reviews(960)
test, test_y = make_reviews(320)
model = ReviewEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(2):
    model.train()
    total = 0.0
    for ids, y in bucketed_batches(train, train_y):
        loss = criterion(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    hits = 0
    with torch.no_grad():
        for ids, y in bucketed_batches(test, test_y, 64, shuffle=False):
            hits += ((model(ids) > 0) == (y > 0.5)).sum().item()
    print(f"epoch {epoch} train loss {total / len(train):.4f} test accuracy {hits / len(test):.3f}")
"""
CURED = r"""import math
import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(11)
rng = random.Random(11)

VOCAB, PAD, MAX_LEN, DIM = 3000, 0, 256, 64


def make_reviews(n):
    reviews, labels = [], []
    for _ in range(n):
        label = rng.randint(0, 1)
        length = min(MAX_LEN, max(8, int(rng.lognormvariate(4.45, 0.55))))
        tokens = torch.randint(1, VOCAB, (length,))
        opinion = torch.rand(length) < 0.12
        tokens[opinion] = 10 + 50 * label + torch.randint(0, 50, (int(opinion.sum()),))
        reviews.append(tokens)
        labels.append(label)
    return reviews, torch.tensor(labels, dtype=torch.float)


def bucketed_batches(reviews, labels, batch_size=32, shuffle=True):
    order = sorted(range(len(reviews)), key=lambda j: len(reviews[j]))
    chunks = [order[s:s + batch_size] for s in range(0, len(order), batch_size)]
    if shuffle:
        rng.shuffle(chunks)
    for chunk in chunks:
        ids = torch.full((len(chunk), max(len(reviews[j]) for j in chunk)), PAD)
        for row, j in enumerate(chunk):
            ids[row, :len(reviews[j])] = reviews[j]
        yield ids, labels[chunk]


class ReviewEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        pos = torch.arange(MAX_LEN).unsqueeze(1)
        freq = torch.exp(torch.arange(0, DIM, 2) * (-math.log(1e4) / DIM))
        table = torch.zeros(MAX_LEN, DIM)
        table[:, 0::2] = torch.sin(pos * freq)
        table[:, 1::2] = torch.cos(pos * freq)
        self.register_buffer("table", table)
        layer = nn.TransformerEncoderLayer(DIM, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, 1)

    def forward(self, ids):
        pad = ids == PAD
        x = self.emb(ids) + 0.3 * self.table[:ids.shape[1]]
        x = self.encoder(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.head(pooled).squeeze(1)


train, train_y = make_reviews(960)
test, test_y = make_reviews(320)
model = ReviewEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(2):
    model.train()
    total = 0.0
    for ids, y in bucketed_batches(train, train_y):
        loss = criterion(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    hits = 0
    with torch.no_grad():
        for ids, y in bucketed_batches(test, test_y, 64, shuffle=False):
            hits += ((model(ids) > 0) == (y > 0.5)).sum().item()
    print(f"epoch {epoch} train loss {total / len(train):.4f} test accuracy {hits / len(test):.3f}")
"""
