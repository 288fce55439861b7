NAME = 'd07_review_scoring'
FAULT = 'Every batch is padded to the corpus-wide maximum length although nearly all documents are far shorter, so most of the convolution work is spent on padding.'
CURE = 'Sort the documents by length and pad each batch only to its own longest document.'
KIND = 'time'
FAULT_LINES = (26, 32, 46)
FAULT_CALLS = ('conv1d', 'conv', 'model', 'forward')
FAULTY = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(5)
torch.manual_seed(5)

VOCAB, MAX_LEN = 8000, 300
lengths = np.clip(rng.lognormal(3.3, 0.7, 1800).astype(int), 6, MAX_LEN)
reviews = [rng.integers(1, VOCAB, size=k).tolist() for k in lengths]


class TextCNN(nn.Module):
    def __init__(self, vocab, dim=96, filters=96, widths=(3, 5, 7)):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(dim, filters, w, padding=w // 2) for w in widths])
        self.fc = nn.Linear(filters * len(widths), 5)

    def forward(self, ids):
        mask = (ids == 0)[:, None, :]
        e = self.emb(ids).transpose(1, 2)
        pooled = []
        for conv in self.convs:
            a = F.relu(conv(e)).masked_fill(mask, 0.0)
            pooled.append(a.amax(dim=-1))
        return self.fc(torch.cat(pooled, dim=1))


def collate(batch):
    ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    for r, toks in enumerate(batch):
        ids[r, :len(toks)] = torch.tensor(toks)
    return ids


model = TextCNN(VOCAB).eval()
scores = torch.empty(len(reviews), 5)
order = np.arange(len(reviews))
bs = 32
with torch.inference_mode():
    for s in range(0, len(order), bs):
        idx = order[s:s + bs]
        ids = collate([reviews[i] for i in idx])
        scores[torch.from_numpy(idx)] = model(ids).softmax(dim=-1)

stars = scores.argmax(1) + 1
print("mean stars %.4f" % stars.float().mean())
print("mean confidence %.5f" % scores.amax(1).mean())
"""
CURED = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(5)
torch.manual_seed(5)

VOCAB, MAX_LEN = 8000, 300
lengths = np.clip(rng.lognormal(3.3, 0.7, 1800).astype(int), 6, MAX_LEN)
reviews = [rng.integers(1, VOCAB, size=k).tolist() for k in lengths]


class TextCNN(nn.Module):
    def __init__(self, vocab, dim=96, filters=96, widths=(3, 5, 7)):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(dim, filters, w, padding=w // 2) for w in widths])
        self.fc = nn.Linear(filters * len(widths), 5)

    def forward(self, ids):
        mask = (ids == 0)[:, None, :]
        e = self.emb(ids).transpose(1, 2)
        pooled = []
        for conv in self.convs:
            a = F.relu(conv(e)).masked_fill(mask, 0.0)
            pooled.append(a.amax(dim=-1))
        return self.fc(torch.cat(pooled, dim=1))


def collate(batch):
    ids = torch.zeros(len(batch), max(len(t) for t in batch), dtype=torch.long)
    for r, toks in enumerate(batch):
        ids[r, :len(toks)] = torch.tensor(toks)
    return ids


model = TextCNN(VOCAB).eval()
scores = torch.empty(len(reviews), 5)
order = np.argsort(lengths)
bs = 32
with torch.inference_mode():
    for s in range(0, len(order), bs):
        idx = order[s:s + bs]
        ids = collate([reviews[i] for i in idx])
        scores[torch.from_numpy(idx)] = model(ids).softmax(dim=-1)

stars = scores.argmax(1) + 1
print("mean stars %.4f" % stars.float().mean())
print("mean confidence %.5f" % scores.amax(1).mean())
"""
