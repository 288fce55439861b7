NAME = "A fastText-like language identifier averages hashed character n-gram vectors and is trained with SGD on invented languages."
FAULT = "The n-gram table of 120 000 rows gets a dense gradient, so every step clears, fills and applies a gradient for the whole table though a batch touches only a few thousand rows."
CURE = "Create the EmbeddingBag with sparse=True; plain SGD takes sparse gradients and gives the same weights."
KIND = "time"
FAULT_LINES = ["self.bag = nn.EmbeddingBag(buckets, dim, mode=\"mean\")", "opt.step()", "loss.backward()", "opt = torch.optim.SGD(model.parameters(), lr=LR)"]
FAULT_CALLS = ["embedding_bag", "_embedding_bag_dense_backward", "embedding_dense_backward", "step", "SGD.step", "_foreach_add_", "add_", "backward", "EmbeddingBag"]
FAULTY = r'''
import zlib
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import Counter

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

N_LANG = 24
BUCKETS = 120_000
LR = 1.5

alphabets = {
    "latin": list("abcdefghijklmnopqrstuvwxyzáéíóúñçäöü"),
    "cyr": list("абвгдежзийклмнопрстуфхцчшщыэюя"),
    "greek": list("αβγδεζηθικλμνξοπρστυφχψω"),
}
scripts = list(alphabets)


class Language:
    """first-order Markov chain over the letters of one script"""

    def __init__(self, script):
        self.letters = alphabets[script]
        k = len(self.letters)
        self.trans = np.cumsum(rng.dirichlet(np.full(k, 0.15), size=k), axis=1)

    def sentence(self, n_chars):
        u = rng.random(n_chars)
        s, out = int(rng.integers(len(self.letters))), []
        for j in range(n_chars):
            s = min(int(np.searchsorted(self.trans[s], u[j])), len(self.letters) - 1)
            out.append(self.letters[s])
            if j % 6 == 5:
                out.append(" ")
        return "".join(out)


def ngrams(text, lo=2, hi=4):
    text = f"<{text}>"
    raw = [text[i:i + n] for n in range(lo, hi + 1) for i in range(len(text) - n + 1)]
    return [zlib.crc32(g.encode("utf8")) % BUCKETS for g in raw]


langs = [Language(scripts[i % 3]) for i in range(N_LANG)]
labels = rng.integers(0, N_LANG, size=6000)
texts = [langs[l].sentence(int(rng.integers(25, 60))) for l in labels]
ids = [torch.tensor(ngrams(t)) for t in texts]
labels = torch.from_numpy(labels)
n_train = 5000
print("documents", len(ids), "mean n-grams", round(float(np.mean([len(i) for i in ids])), 1))


def collate(rows):
    parts = [ids[r] for r in rows]
    lens = torch.tensor([0] + [len(p) for p in parts[:-1]])
    return torch.cat(parts), lens.cumsum(0), labels[rows]


class LangID(nn.Module):
    def __init__(self, buckets, dim, n_out, hidden=512):
        super().__init__()
        self.bag = nn.EmbeddingBag(buckets, dim, mode="mean")
        nn.init.uniform_(self.bag.weight, -0.5, 0.5)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, n_out))

    def forward(self, flat, offsets):
        return self.mlp(self.bag(flat, offsets))


model = LangID(BUCKETS, 48, N_LANG)
opt = torch.optim.SGD(model.parameters(), lr=LR)

for epoch in range(10):
    perm = torch.randperm(n_train).tolist()
    tot = 0.0
    for b in range(0, n_train, 128):
        flat, off, y = collate(perm[b:b + 128])
        loss = F.cross_entropy(model(flat, off), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(y)
    print(f"epoch {epoch}: loss {tot / n_train:.3f}")

model.eval()
with torch.no_grad():
    flat, off, y = collate(list(range(n_train, len(ids))))
    pred = model(flat, off).argmax(1)
print("test accuracy", round((pred == y).float().mean().item(), 3))
worst = Counter(y[pred != y].tolist()).most_common(2)
print("hardest languages", [w for w, _ in worst])
'''
CURED = FAULTY.replace('mode="mean")', 'mode="mean", sparse=True)')
