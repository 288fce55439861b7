NAME = 'g02_ticket_encoding'
FAULT = 'The vocabulary is a list, and each word of each ticket is looked up with `in` and list.index, two linear scans over thousands of words.'
CURE = 'Build a dict from word to index once and look words up in it.'
KIND = 'time'
FAULT_LINES = [
    '    return [vocab.index(w) if w in vocab else UNK for w in text.split()]',
    'enc = [encode(t) for t in tickets]',
]
FAULT_CALLS = ['list.index', 'list.__contains__', 'encode']

FAULTY = r'''
import random
from collections import Counter

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0); np.random.seed(0); torch.manual_seed(0)

# support tickets: 4 queues, each with its own favourite words
lemmas = ["".join(random.choices("abcdefghijklmnoprstuvw", k=random.randint(3, 9))) for _ in range(9000)]
queues = ["billing", "login", "shipping", "other"]
zipf = 1.0 / np.arange(1, len(lemmas) + 1) ** 0.85
zipf /= zipf.sum()
tickets, target = [], []
for n in range(4500):
    q = n % 4
    words = np.random.choice(len(lemmas), size=np.random.randint(20, 70), p=zipf)
    words = [lemmas[(w + 37 * q) % len(lemmas)] if w % 11 == 0 else lemmas[w] for w in words]
    tickets.append(" ".join(words))
    target.append(q)

counts = Counter(w for t in tickets for w in t.split())
vocab = ["<pad>", "<unk>"] + [w for w, c in counts.most_common() if c >= 3]
UNK = 1
print(len(vocab), "words kept of", len(counts))


def encode(text):
    return [vocab.index(w) if w in vocab else UNK for w in text.split()]


enc = [encode(t) for t in tickets]
flat = torch.tensor([i for e in enc for i in e])
lens = torch.tensor([len(e) for e in enc])
starts = torch.cumsum(lens, 0) - lens
y = torch.tensor(target)

clf = nn.EmbeddingBag(len(vocab), 48, mode="mean")
out = nn.Linear(48, len(queues))
opt = torch.optim.Adam([*clf.parameters(), *out.parameters()], lr=5e-3)

n_train = 3600
for epoch in range(4):
    order = torch.randperm(n_train)
    running = 0.0
    for b in order.split(90):
        toks = torch.cat([flat[s:s + l] for s, l in zip(starts[b].tolist(), lens[b].tolist())])
        offs = torch.cumsum(lens[b], 0) - lens[b]
        loss = nn.functional.cross_entropy(out(clf(toks, offs)), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        running += loss.item()
    print(epoch, round(running / 40, 4))

with torch.no_grad():
    off = starts[n_train:] - starts[n_train]
    pred = out(clf(flat[starts[n_train]:], off)).argmax(1)
print("test acc", (pred == y[n_train:]).float().mean().item())
'''

CURED = r'''
import random
from collections import Counter

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0); np.random.seed(0); torch.manual_seed(0)

# support tickets: 4 queues, each with its own favourite words
lemmas = ["".join(random.choices("abcdefghijklmnoprstuvw", k=random.randint(3, 9))) for _ in range(9000)]
queues = ["billing", "login", "shipping", "other"]
zipf = 1.0 / np.arange(1, len(lemmas) + 1) ** 0.85
zipf /= zipf.sum()
tickets, target = [], []
for n in range(4500):
    q = n % 4
    words = np.random.choice(len(lemmas), size=np.random.randint(20, 70), p=zipf)
    words = [lemmas[(w + 37 * q) % len(lemmas)] if w % 11 == 0 else lemmas[w] for w in words]
    tickets.append(" ".join(words))
    target.append(q)

counts = Counter(w for t in tickets for w in t.split())
vocab = ["<pad>", "<unk>"] + [w for w, c in counts.most_common() if c >= 3]
word2id = {w: i for i, w in enumerate(vocab)}
UNK = 1
print(len(vocab), "words kept of", len(counts))


def encode(text):
    return [word2id.get(w, UNK) for w in text.split()]


enc = [encode(t) for t in tickets]
flat = torch.tensor([i for e in enc for i in e])
lens = torch.tensor([len(e) for e in enc])
starts = torch.cumsum(lens, 0) - lens
y = torch.tensor(target)

clf = nn.EmbeddingBag(len(vocab), 48, mode="mean")
out = nn.Linear(48, len(queues))
opt = torch.optim.Adam([*clf.parameters(), *out.parameters()], lr=5e-3)

n_train = 3600
for epoch in range(4):
    order = torch.randperm(n_train)
    running = 0.0
    for b in order.split(90):
        toks = torch.cat([flat[s:s + l] for s, l in zip(starts[b].tolist(), lens[b].tolist())])
        offs = torch.cumsum(lens[b], 0) - lens[b]
        loss = nn.functional.cross_entropy(out(clf(toks, offs)), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
        running += loss.item()
    print(epoch, round(running / 40, 4))

with torch.no_grad():
    off = starts[n_train:] - starts[n_train]
    pred = out(clf(flat[starts[n_train]:], off)).argmax(1)
print("test acc", (pred == y[n_train:]).float().mean().item())
'''
