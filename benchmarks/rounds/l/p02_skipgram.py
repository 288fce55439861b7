NAME = 'Trains skip-gram word vectors with negative sampling on a synthetic corpus.'
FAULT = 'np.random.Generator.choice with p= checks and cumulates the whole noise distribution of 150,000 words again at every batch.'
CURE = 'Cumulate the noise distribution once before the loop and draw with searchsorted on uniform numbers (the same draws).'
KIND = 'time'
FAULT_LINES = [
    'neg = rng.choice(vocab_size, size=(len(centers), n_neg), p=noise)',
    'neg = draw_negatives(c)',
    'def draw_negatives(centers):',
]
FAULT_CALLS = [
    'numpy.random.Generator.choice',
    'rng.choice',
    'choice',
    'draw_negatives',
]

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

vocab_size, dim, window, n_neg, batch = 150_000, 64, 3, 5, 256

# Zipf-like corpus
freq = 1.0 / np.arange(1, vocab_size + 1)
freq /= freq.sum()
corpus = np.searchsorted(np.cumsum(freq), rng.random(400_000)).clip(max=vocab_size - 1)
counts = np.bincount(corpus, minlength=vocab_size) + 1
noise = counts ** 0.75
noise = noise / noise.sum()


class SkipGram(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.inp = nn.Embedding(n, d, sparse=True)
        self.out = nn.Embedding(n, d, sparse=True)
        nn.init.uniform_(self.inp.weight, -0.5 / d, 0.5 / d)
        nn.init.zeros_(self.out.weight)

    def forward(self, c, o, neg):
        v = self.inp(c)
        pos = (v * self.out(o)).sum(-1)
        negs = torch.bmm(self.out(neg), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos) + F.logsigmoid(-negs).sum(-1)).mean()


def draw_negatives(centers):
    neg = rng.choice(vocab_size, size=(len(centers), n_neg), p=noise)
    return torch.from_numpy(neg)


model = SkipGram(vocab_size, dim)
opt = torch.optim.SGD(model.parameters(), lr=20.0)

losses = []
for step in range(2600):
    pos = rng.integers(window, len(corpus) - window, size=batch)
    off = rng.integers(1, window + 1, size=batch) * rng.choice([-1, 1], size=batch)
    c = torch.from_numpy(corpus[pos])
    o = torch.from_numpy(corpus[pos + off])
    neg = draw_negatives(c)
    loss = model(c, o, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())

print(f"loss {np.mean(losses[:50]):.4f} -> {np.mean(losses[-50:]):.4f}, |v| {model.inp.weight.detach().norm().item():.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)
rng = np.random.default_rng(3)

vocab_size, dim, window, n_neg, batch = 150_000, 64, 3, 5, 256

# Zipf-like corpus
freq = 1.0 / np.arange(1, vocab_size + 1)
freq /= freq.sum()
corpus = np.searchsorted(np.cumsum(freq), rng.random(400_000)).clip(max=vocab_size - 1)
counts = np.bincount(corpus, minlength=vocab_size) + 1
noise = counts ** 0.75
noise = noise / noise.sum()
noise_cdf = noise.cumsum()
noise_cdf /= noise_cdf[-1]


class SkipGram(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.inp = nn.Embedding(n, d, sparse=True)
        self.out = nn.Embedding(n, d, sparse=True)
        nn.init.uniform_(self.inp.weight, -0.5 / d, 0.5 / d)
        nn.init.zeros_(self.out.weight)

    def forward(self, c, o, neg):
        v = self.inp(c)
        pos = (v * self.out(o)).sum(-1)
        negs = torch.bmm(self.out(neg), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos) + F.logsigmoid(-negs).sum(-1)).mean()


def draw_negatives(centers):
    neg = noise_cdf.searchsorted(rng.random((len(centers), n_neg)), side="right")
    return torch.from_numpy(neg)


model = SkipGram(vocab_size, dim)
opt = torch.optim.SGD(model.parameters(), lr=20.0)

losses = []
for step in range(2600):
    pos = rng.integers(window, len(corpus) - window, size=batch)
    off = rng.integers(1, window + 1, size=batch) * rng.choice([-1, 1], size=batch)
    c = torch.from_numpy(corpus[pos])
    o = torch.from_numpy(corpus[pos + off])
    neg = draw_negatives(c)
    loss = model(c, o, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())

print(f"loss {np.mean(losses[:50]):.4f} -> {np.mean(losses[-50:]):.4f}, |v| {model.inp.weight.detach().norm().item():.3f}")
"""
