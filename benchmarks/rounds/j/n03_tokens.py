NAME = 'Builds a word vocabulary over a made-up corpus, encodes all texts and trains a bag-of-words topic classifier.'
FAULT = 'The vocabulary is a list that is searched from the front, twice, for each word of the corpus.'
CURE = 'Keep a dictionary from word to id beside the list and look the word up there.'
KIND = 'time'
FAULT_LINES = [
    'if word in self.itos:',
    'return self.itos.index(word)',
    'return [self.vocab.lookup(w) for w in text.lower().split()[:self.max_len]]',
]
FAULT_CALLS = ['lookup', 'list.index', 'index', 'encode']

FAULTY = r"""
import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)
torch.set_num_threads(1)

# a made-up corpus: four topics, each with its favourite words
SYL = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
words = sorted({"".join(random.choice(SYL) for _ in range(random.randint(2, 4))) for _ in range(5000)})
random.shuffle(words)
topics = [words[i * 1000:(i + 1) * 1000] for i in range(4)]


def make_text(label, n=40):
    return " ".join(random.choice(topics[label]) if random.random() < 0.12 else random.choice(words)
                    for _ in range(n))


labels = [random.randrange(4) for _ in range(3000)]
texts = [make_text(c) for c in labels]


class Vocab:
    def __init__(self, texts, max_size=4500):
        counts = Counter(w for t in texts for w in t.split())
        self.itos = ["<pad>", "<unk>"] + sorted(w for w, _ in counts.most_common(max_size))
        self.unk = 1

    def __len__(self):
        return len(self.itos)

    def lookup(self, word):
        if word in self.itos:
            return self.itos.index(word)
        return self.unk


class Tokenizer:
    def __init__(self, vocab, max_len=40):
        self.vocab, self.max_len = vocab, max_len

    def encode(self, text):
        return [self.vocab.lookup(w) for w in text.lower().split()[:self.max_len]]

    def batch(self, texts):
        rows = [self.encode(t) for t in texts]
        out = torch.zeros(len(rows), self.max_len, dtype=torch.long)
        for i, r in enumerate(rows):
            out[i, :len(r)] = torch.tensor(r)
        return out


vocab = Vocab(texts[:2400])
X = Tokenizer(vocab).batch(texts)
y = torch.tensor(labels)
print("vocabulary", len(vocab), "unknown share", round((X == 1).float().mean().item(), 4))


class TopicNet(nn.Module):
    def __init__(self, n, d=64):
        super().__init__()
        self.emb = nn.EmbeddingBag(n, d, mode="mean", padding_idx=0)
        self.out = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.out(self.emb(x))


net = TopicNet(len(vocab))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for idx in torch.randperm(2400).split(64):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(X[2400:]).argmax(1) == y[2400:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
"""

CURED = r"""
import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)
torch.set_num_threads(1)

# a made-up corpus: four topics, each with its favourite words
SYL = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
words = sorted({"".join(random.choice(SYL) for _ in range(random.randint(2, 4))) for _ in range(5000)})
random.shuffle(words)
topics = [words[i * 1000:(i + 1) * 1000] for i in range(4)]


def make_text(label, n=40):
    return " ".join(random.choice(topics[label]) if random.random() < 0.12 else random.choice(words)
                    for _ in range(n))


labels = [random.randrange(4) for _ in range(3000)]
texts = [make_text(c) for c in labels]


class Vocab:
    def __init__(self, texts, max_size=4500):
        counts = Counter(w for t in texts for w in t.split())
        self.itos = ["<pad>", "<unk>"] + sorted(w for w, _ in counts.most_common(max_size))
        self.unk = 1
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def lookup(self, word):
        return self.stoi.get(word, self.unk)


class Tokenizer:
    def __init__(self, vocab, max_len=40):
        self.vocab, self.max_len = vocab, max_len

    def encode(self, text):
        return [self.vocab.lookup(w) for w in text.lower().split()[:self.max_len]]

    def batch(self, texts):
        rows = [self.encode(t) for t in texts]
        out = torch.zeros(len(rows), self.max_len, dtype=torch.long)
        for i, r in enumerate(rows):
            out[i, :len(r)] = torch.tensor(r)
        return out


vocab = Vocab(texts[:2400])
X = Tokenizer(vocab).batch(texts)
y = torch.tensor(labels)
print("vocabulary", len(vocab), "unknown share", round((X == 1).float().mean().item(), 4))


class TopicNet(nn.Module):
    def __init__(self, n, d=64):
        super().__init__()
        self.emb = nn.EmbeddingBag(n, d, mode="mean", padding_idx=0)
        self.out = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.out(self.emb(x))


net = TopicNet(len(vocab))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for idx in torch.randperm(2400).split(64):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (net(X[2400:]).argmax(1) == y[2400:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
"""
