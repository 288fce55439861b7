NAME = 'Trains a small GRU word model for some steps and serves greedy completions of 32-word prompts.'
FAULT = 'For a completion only the logits after the last word of the prompt are needed, but the 16000-word output layer is applied at every position of the prompt.'
CURE = 'Take the last hidden state first and apply norm and head to it alone.'
KIND = 'time'
FAULT_LINES = [
    'logits, state = self(tokens, state)',
    'return logits[:, -1], state',
    'logits, state = model.last(prompts)',
    'return self.head(self.norm(h)), state',
]
FAULT_CALLS = ['last', 'head', 'Linear', 'linear', 'addmm', 'forward']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
torch.set_num_threads(1)

# synthetic query log: words follow each other by a hidden rule plus noise
V, D, T = 16000, 160, 40
step_of = torch.randint(1, V, (64,))


def make_queries(n):
    w = torch.randint(0, V, (n, 1))
    rows = [w]
    for _ in range(T - 1):
        nxt = (w + step_of[w % 64]) % V
        w = torch.where(torch.rand(n, 1) < 0.9, nxt % 2000, torch.randint(0, V, (n, 1)))
        rows.append(w)
    return torch.cat(rows, 1)


class WordModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.rnn = nn.GRU(D, D, batch_first=True)
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, V)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.emb(tokens), state)
        return self.head(self.norm(h)), state

    def last(self, tokens, state=None):
        logits, state = self(tokens, state)
        return logits[:, -1], state


@torch.no_grad()
def complete(model, prompts, n_new=3):
    '''Greedy completion of a batch of prompts, with the summed log probability.'''
    logits, state = model.last(prompts)
    words, logp = [], torch.zeros(len(prompts))
    for i in range(n_new):
        lp = logits.log_softmax(-1)
        best, w = lp.max(-1)
        words.append(w)
        logp += best
        if i + 1 < n_new:
            logits, state = model.last(w[:, None], state)
    return torch.stack(words, 1), logp


model = WordModel()
opt = torch.optim.SGD(model.parameters(), lr=1.0)
train = make_queries(160)
for step in range(5):
    q = train[step * 16:step * 16 + 16]
    logits, _ = model(q[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), q[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step} loss {loss.item():.4f}")

model.eval()
served = make_queries(3000)[:, :32]
found, scores = [], []
for batch in served.split(32):
    w, lp = complete(model, batch)
    found.append(w)
    scores.append(lp)
found, scores = torch.cat(found), torch.cat(scores)
print("completions", tuple(found.shape), "mean log prob", round(scores.mean().item(), 4))
print("distinct first words", found[:, 0].unique().numel(), "sum of ids", found.sum().item())
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
torch.set_num_threads(1)

# synthetic query log: words follow each other by a hidden rule plus noise
V, D, T = 16000, 160, 40
step_of = torch.randint(1, V, (64,))


def make_queries(n):
    w = torch.randint(0, V, (n, 1))
    rows = [w]
    for _ in range(T - 1):
        nxt = (w + step_of[w % 64]) % V
        w = torch.where(torch.rand(n, 1) < 0.9, nxt % 2000, torch.randint(0, V, (n, 1)))
        rows.append(w)
    return torch.cat(rows, 1)


class WordModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.rnn = nn.GRU(D, D, batch_first=True)
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, V)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.emb(tokens), state)
        return self.head(self.norm(h)), state

    def last(self, tokens, state=None):
        h, state = self.rnn(self.emb(tokens), state)
        return self.head(self.norm(h[:, -1])), state


@torch.no_grad()
def complete(model, prompts, n_new=3):
    '''Greedy completion of a batch of prompts, with the summed log probability.'''
    logits, state = model.last(prompts)
    words, logp = [], torch.zeros(len(prompts))
    for i in range(n_new):
        lp = logits.log_softmax(-1)
        best, w = lp.max(-1)
        words.append(w)
        logp += best
        if i + 1 < n_new:
            logits, state = model.last(w[:, None], state)
    return torch.stack(words, 1), logp


model = WordModel()
opt = torch.optim.SGD(model.parameters(), lr=1.0)
train = make_queries(160)
for step in range(5):
    q = train[step * 16:step * 16 + 16]
    logits, _ = model(q[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), q[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step} loss {loss.item():.4f}")

model.eval()
served = make_queries(3000)[:, :32]
found, scores = [], []
for batch in served.split(32):
    w, lp = complete(model, batch)
    found.append(w)
    scores.append(lp)
found, scores = torch.cat(found), torch.cat(scores)
print("completions", tuple(found.shape), "mean log prob", round(scores.mean().item(), 4))
print("distinct first words", found[:, 0].unique().numel(), "sum of ids", found.sum().item())
"""
