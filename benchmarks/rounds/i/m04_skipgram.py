NAME = 'Learns skip-gram word vectors with negative sampling from a synthetic corpus.'
FAULT = 'The negatives are drawn pair by pair with rng.choice(..., p=noise), which checks and cumulates the whole vocabulary distribution on every call.'
CURE = 'Draw the negatives of a whole batch with one call of rng.choice (or from a precomputed cumulative table).'
KIND = 'time'
FAULT_LINES = [
    'neg = self.rng.choice(len(self.noise), size=self.k, p=self.noise)',
    'return self.pairs[i, 0], self.pairs[i, 1], neg',
]
FAULT_CALLS = [
    'choice',
    '__getitem__',
    'fetch',
    'Generator.choice',
    'cumsum',
]
FAULTY = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

# synthetic corpus: topics switch every few words
V, n_tokens, window = 12000, 12000, 3
topic = np.repeat(rng.integers(0, 40, n_tokens // 10), 10)
word = (topic * 300 + np.minimum(rng.zipf(1.5, n_tokens), 300) - 1).astype(np.int64)

pairs = []
for off in range(1, window + 1):
    pairs.append(np.stack([word[:-off], word[off:]], 1))
    pairs.append(np.stack([word[off:], word[:-off]], 1))
pairs = np.concatenate(pairs)

counts = np.bincount(word, minlength=V) + 1.0
noise = counts ** 0.75
noise /= noise.sum()


class SkipGrams(Dataset):
    def __init__(self, pairs, noise, k=8, seed=1):
        self.pairs, self.noise, self.k = pairs, noise, k
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        neg = self.rng.choice(len(self.noise), size=self.k, p=self.noise)
        return self.pairs[i, 0], self.pairs[i, 1], neg


def collate(items):
    c, o, n = zip(*items)
    return (torch.from_numpy(np.array(c)), torch.from_numpy(np.array(o)), torch.from_numpy(np.stack(n)))


class SGNS(nn.Module):
    def __init__(self, V, d=64):
        super().__init__()
        self.u = nn.Embedding(V, d, sparse=True)
        self.v = nn.Embedding(V, d, sparse=True)
        nn.init.uniform_(self.u.weight, -0.5, 0.5)
        nn.init.uniform_(self.v.weight, -0.5, 0.5)

    def forward(self, c, o, n):
        uc = self.u(c)
        pos = (uc * self.v(o)).sum(-1)
        neg = torch.bmm(self.v(n), uc.unsqueeze(-1)).squeeze(-1)
        return -(nn.functional.logsigmoid(pos) + nn.functional.logsigmoid(-neg).sum(-1)).mean()


loader = DataLoader(SkipGrams(pairs, noise), batch_size=256, shuffle=True, collate_fn=collate)
model = SGNS(V)
opt = torch.optim.SGD(model.parameters(), lr=2.0)
total = 0.0
for step, (c, o, n) in enumerate(loader):
    loss = model(c, o, n)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    if step % 60 == 0:
        print(step, round(loss.item(), 4))
print("mean loss", round(total / len(loader), 5))
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

# synthetic corpus: topics switch every few words
V, n_tokens, window = 12000, 12000, 3
topic = np.repeat(rng.integers(0, 40, n_tokens // 10), 10)
word = (topic * 300 + np.minimum(rng.zipf(1.5, n_tokens), 300) - 1).astype(np.int64)

pairs = []
for off in range(1, window + 1):
    pairs.append(np.stack([word[:-off], word[off:]], 1))
    pairs.append(np.stack([word[off:], word[:-off]], 1))
pairs = np.concatenate(pairs)

counts = np.bincount(word, minlength=V) + 1.0
noise = counts ** 0.75
noise /= noise.sum()


class SkipGrams(Dataset):
    def __init__(self, pairs, noise, k=8, seed=1):
        self.pairs, self.noise, self.k = pairs, noise, k
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i, 0], self.pairs[i, 1]

    def collate(self, items):
        c, o = zip(*items)
        n = self.rng.choice(len(self.noise), size=(len(items), self.k), p=self.noise)
        return (torch.from_numpy(np.array(c)), torch.from_numpy(np.array(o)), torch.from_numpy(n))


class SGNS(nn.Module):
    def __init__(self, V, d=64):
        super().__init__()
        self.u = nn.Embedding(V, d, sparse=True)
        self.v = nn.Embedding(V, d, sparse=True)
        nn.init.uniform_(self.u.weight, -0.5, 0.5)
        nn.init.uniform_(self.v.weight, -0.5, 0.5)

    def forward(self, c, o, n):
        uc = self.u(c)
        pos = (uc * self.v(o)).sum(-1)
        neg = torch.bmm(self.v(n), uc.unsqueeze(-1)).squeeze(-1)
        return -(nn.functional.logsigmoid(pos) + nn.functional.logsigmoid(-neg).sum(-1)).mean()


ds = SkipGrams(pairs, noise)
loader = DataLoader(ds, batch_size=256, shuffle=True, collate_fn=ds.collate)
model = SGNS(V)
opt = torch.optim.SGD(model.parameters(), lr=2.0)
total = 0.0
for step, (c, o, n) in enumerate(loader):
    loss = model(c, o, n)
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    if step % 60 == 0:
        print(step, round(loss.item(), 4))
print("mean loss", round(total / len(loader), 5))
"""
