NAME = 'Byte-pair tokenizer learnt from a small corpus, then a GRU language model over the subwords'
FAULT = 'BPE training walks over every word occurrence of the corpus for each merge (counting pairs and merging), although the few thousand distinct words with their frequencies suffice'
CURE = 'Count the distinct words once and do the pair counting and merging over distinct words weighted by frequency'
KIND = 'time'
FAULT_LINES = ['for w in words:', 'pairs.update(zip(w, w[1:]))', 'words = [merge_word(w, best) for w in words]', 'words = [tuple(w) + ("_",) for w in text.split()]']
FAULT_CALLS = ['learn_bpe', 'pairs.update', 'Counter.update', 'merge_word', 'zip']
FAULTY = r"""
import random
from collections import Counter

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(17)
torch.manual_seed(17)


def make_corpus(n_words, n_types):
    onset = ["b", "br", "d", "f", "g", "k", "kl", "l", "m", "n", "p", "pr", "s", "st", "t", "tr", "v"]
    vowel = ["a", "e", "i", "o", "u", "ai", "ea"]
    coda = ["", "n", "r", "s", "l", "nd", "st"]
    vocab = ["".join(random.choice(onset) + random.choice(vowel) + random.choice(coda)
                     for _ in range(random.choice([1, 2, 2, 3]))) for _ in range(n_types)]
    weights = [1 / (r + 3) for r in range(n_types)]
    return " ".join(random.choices(vocab, weights, k=n_words))


def merge_word(word, pair):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def learn_bpe(text, n_merges):
    words = [tuple(w) + ("_",) for w in text.split()]
    merges = []
    for _ in range(n_merges):
        pairs = Counter()
        for w in words:
            pairs.update(zip(w, w[1:]))
        best = max(pairs, key=lambda p: (pairs[p], p))
        words = [merge_word(w, best) for w in words]
        merges.append(best)
    return merges


def encode(text, merges):
    cache, ids, table = {}, [], {}
    for w in text.split():
        if w not in cache:
            toks = tuple(w) + ("_",)
            for m in merges:
                toks = merge_word(toks, m)
            cache[w] = toks
        for tok in cache[w]:
            ids.append(table.setdefault(tok, len(table)))
    return ids, table


corpus = make_corpus(n_words=22000, n_types=1500)
merges = learn_bpe(corpus, n_merges=60)
ids, table = encode(corpus, merges)
print("vocabulary", len(table), "| tokens", len(ids), "| first merges", ["".join(m) for m in merges[:6]])


class SubwordLM(nn.Module):
    def __init__(self, vocab, dim=96, hidden=160):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return self.out(h)


seq = 32
data = torch.tensor(ids)
n_chunk = (len(data) - 1) // seq
x_all = data[:n_chunk * seq].view(n_chunk, seq)
y_all = data[1:n_chunk * seq + 1].view(n_chunk, seq)
n_val = n_chunk // 10
lm = SubwordLM(len(table))
opt = torch.optim.Adam(lm.parameters(), lr=3e-3)
for epoch in range(2):
    perm = torch.randperm(n_chunk - n_val)
    for b in perm.split(32):
        loss = F.cross_entropy(lm(x_all[b]).flatten(0, 1), y_all[b].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = F.cross_entropy(lm(x_all[-n_val:]).flatten(0, 1), y_all[-n_val:].flatten()).item()
    print(f"epoch {epoch}: val perplexity {np.exp(val):.3f}")
"""
CURED = r"""
import random
from collections import Counter

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(17)
torch.manual_seed(17)


def make_corpus(n_words, n_types):
    onset = ["b", "br", "d", "f", "g", "k", "kl", "l", "m", "n", "p", "pr", "s", "st", "t", "tr", "v"]
    vowel = ["a", "e", "i", "o", "u", "ai", "ea"]
    coda = ["", "n", "r", "s", "l", "nd", "st"]
    vocab = ["".join(random.choice(onset) + random.choice(vowel) + random.choice(coda)
                     for _ in range(random.choice([1, 2, 2, 3]))) for _ in range(n_types)]
    weights = [1 / (r + 3) for r in range(n_types)]
    return " ".join(random.choices(vocab, weights, k=n_words))


def merge_word(word, pair):
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def learn_bpe(text, n_merges):
    freq = Counter(tuple(w) + ("_",) for w in text.split())
    words = list(freq.items())
    merges = []
    for _ in range(n_merges):
        pairs = Counter()
        for w, n in words:
            for p in zip(w, w[1:]):
                pairs[p] += n
        best = max(pairs, key=lambda p: (pairs[p], p))
        words = [(merge_word(w, best), n) for w, n in words]
        merges.append(best)
    return merges


def encode(text, merges):
    cache, ids, table = {}, [], {}
    for w in text.split():
        if w not in cache:
            toks = tuple(w) + ("_",)
            for m in merges:
                toks = merge_word(toks, m)
            cache[w] = toks
        for tok in cache[w]:
            ids.append(table.setdefault(tok, len(table)))
    return ids, table


corpus = make_corpus(n_words=22000, n_types=1500)
merges = learn_bpe(corpus, n_merges=60)
ids, table = encode(corpus, merges)
print("vocabulary", len(table), "| tokens", len(ids), "| first merges", ["".join(m) for m in merges[:6]])


class SubwordLM(nn.Module):
    def __init__(self, vocab, dim=96, hidden=160):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return self.out(h)


seq = 32
data = torch.tensor(ids)
n_chunk = (len(data) - 1) // seq
x_all = data[:n_chunk * seq].view(n_chunk, seq)
y_all = data[1:n_chunk * seq + 1].view(n_chunk, seq)
n_val = n_chunk // 10
lm = SubwordLM(len(table))
opt = torch.optim.Adam(lm.parameters(), lr=3e-3)
for epoch in range(2):
    perm = torch.randperm(n_chunk - n_val)
    for b in perm.split(32):
        loss = F.cross_entropy(lm(x_all[b]).flatten(0, 1), y_all[b].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = F.cross_entropy(lm(x_all[-n_val:]).flatten(0, 1), y_all[-n_val:].flatten()).item()
    print(f"epoch {epoch}: val perplexity {np.exp(val):.3f}")
"""
