NAME = 'Trains an LSTM that predicts the next word after a twelve-word context on a synthetic Markov corpus.'

FAULT = 'The vocabulary projection is computed for all twelve positions though only the last one is used.'

CURE = 'Take the last hidden state first and project only that one.'

KIND = 'time'

FAULT_LINES = ['logits = self.out(h)', 'return logits[:, -1]']

FAULT_CALLS = ['torch.nn.Linear.forward', 'aten::addmm', 'NextWord.forward']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)
g = torch.Generator().manual_seed(12)

VOCAB, CONTEXT, BATCH, STEPS = 3000, 12, 64, 140
N_TOKENS = 60_000


def markov_corpus(branch=6):
    succ = torch.randint(0, VOCAB, (VOCAB, branch), generator=g).tolist()
    weight = torch.tensor([0.45, 0.22, 0.14, 0.09, 0.06, 0.04])
    choice = torch.multinomial(weight, N_TOKENS, replacement=True, generator=g).tolist()
    words, w = [], 0
    for c in choice:
        w = succ[w][c]
        words.append(w)
    return torch.tensor(words)


class NextWord(nn.Module):
    def __init__(self, dim=64, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, tokens):
        h, _ = self.lstm(self.emb(tokens))
        h = self.norm(h)
        logits = self.out(h)
        return logits[:, -1]


class Perplexity:
    def __init__(self):
        self.nll, self.n = 0.0, 0

    def add(self, logits, target):
        self.nll += F.cross_entropy(logits, target, reduction="sum").item()
        self.n += len(target)

    def value(self):
        return float(torch.tensor(self.nll / self.n).exp())


corpus = markov_corpus()
split = int(0.95 * N_TOKENS)
contexts = corpus.unfold(0, CONTEXT + 1, 1)
train, valid = contexts[:split], contexts[split::4]

model = NextWord()
opt = torch.optim.SGD(model.parameters(), lr=2.0)
meter = Perplexity()
for step in range(STEPS):
    rows = train[torch.randint(0, len(train), (BATCH,))]
    logits = model(rows[:, :-1])
    loss = F.cross_entropy(logits, rows[:, -1])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    meter.add(logits.detach(), rows[:, -1])
    if (step + 1) % 70 == 0:
        print(f"step {step + 1}: train perplexity {meter.value():.1f}")
        meter = Perplexity()

model.eval()
meter, top5 = Perplexity(), 0
with torch.no_grad():
    for rows in valid.split(BATCH):
        logits = model(rows[:, :-1])
        meter.add(logits, rows[:, -1])
        top5 += (logits.topk(5, dim=1).indices == rows[:, -1:]).sum().item()
print(f"validation perplexity {meter.value():.1f}  top-5 {top5 / len(valid):.4f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)
g = torch.Generator().manual_seed(12)

VOCAB, CONTEXT, BATCH, STEPS = 3000, 12, 64, 140
N_TOKENS = 60_000


def markov_corpus(branch=6):
    succ = torch.randint(0, VOCAB, (VOCAB, branch), generator=g).tolist()
    weight = torch.tensor([0.45, 0.22, 0.14, 0.09, 0.06, 0.04])
    choice = torch.multinomial(weight, N_TOKENS, replacement=True, generator=g).tolist()
    words, w = [], 0
    for c in choice:
        w = succ[w][c]
        words.append(w)
    return torch.tensor(words)


class NextWord(nn.Module):
    def __init__(self, dim=64, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, tokens):
        h, _ = self.lstm(self.emb(tokens))
        h = self.norm(h[:, -1])
        return self.out(h)


class Perplexity:
    def __init__(self):
        self.nll, self.n = 0.0, 0

    def add(self, logits, target):
        self.nll += F.cross_entropy(logits, target, reduction="sum").item()
        self.n += len(target)

    def value(self):
        return float(torch.tensor(self.nll / self.n).exp())


corpus = markov_corpus()
split = int(0.95 * N_TOKENS)
contexts = corpus.unfold(0, CONTEXT + 1, 1)
train, valid = contexts[:split], contexts[split::4]

model = NextWord()
opt = torch.optim.SGD(model.parameters(), lr=2.0)
meter = Perplexity()
for step in range(STEPS):
    rows = train[torch.randint(0, len(train), (BATCH,))]
    logits = model(rows[:, :-1])
    loss = F.cross_entropy(logits, rows[:, -1])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    meter.add(logits.detach(), rows[:, -1])
    if (step + 1) % 70 == 0:
        print(f"step {step + 1}: train perplexity {meter.value():.1f}")
        meter = Perplexity()

model.eval()
meter, top5 = Perplexity(), 0
with torch.no_grad():
    for rows in valid.split(BATCH):
        logits = model(rows[:, :-1])
        meter.add(logits, rows[:, -1])
        top5 += (logits.topk(5, dim=1).indices == rows[:, -1:]).sum().item()
print(f"validation perplexity {meter.value():.1f}  top-5 {top5 / len(valid):.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 5.79 s (5.7, 5.87), cured 3.17 s (3.02, 3.33); share gained (faulty - cured) / faulty = 45%. Peak RSS 378 MB / 337 MB. Printed results identical.'
