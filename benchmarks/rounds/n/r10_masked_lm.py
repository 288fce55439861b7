NAME = 'Pretrains a tiny masked language model on a synthetic corpus with a large vocabulary.'
FAULT = 'The model projects every position to the whole vocabulary, although the loss looks only at the 15 % masked positions (ignore_index for the rest).'
CURE = 'Select the hidden states at the masked positions before the vocabulary projection.'
KIND = 'time'
FAULT_LINES = ['return self.decoder(self.transform(h))', 'logits = model(ids)', 'loss = F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100)', 'loss.backward()']
FAULT_CALLS = ['decoder', 'Linear', 'linear', 'cross_entropy', 'log_softmax', 'addmm', 'mm', 'backward', 'forward']
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import Counter
torch.set_num_threads(1)
torch.manual_seed(77)

V, SEQ, MASK = 8000, 48, 1

# corpus with Zipf-like unigrams and strong bigrams
zipf = 1.0 / torch.arange(1, V - 9).float()
partner = torch.randint(10, V, (V,))

def corpus(n):
    ids = torch.multinomial(zipf, n * SEQ, replacement=True).view(n, SEQ) + 10
    copy = torch.rand(n, SEQ) < 0.5
    for j in range(1, SEQ):
        ids[:, j] = torch.where(copy[:, j], partner[ids[:, j - 1]], ids[:, j])
    return ids

data = corpus(960)
heldout = corpus(64)
top = Counter(data.flatten().tolist()).most_common(3)
print('most common tokens', top)


class TinyBert(nn.Module):
    def __init__(self, d=64, layers=2):
        super().__init__()
        self.tok = nn.Embedding(V, d)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, d))
        layer = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.transform = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d))
        self.decoder = nn.Linear(d, V)

    def forward(self, ids):
        h = self.encoder(self.tok(ids) + self.pos)
        return self.decoder(self.transform(h))


def mask_tokens(ids):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < 0.15
    chosen[:, 0] = True
    labels[~chosen] = -100
    masked = ids.clone()
    masked[chosen & (torch.rand(ids.shape) < 0.9)] = MASK
    return masked, labels


model = TinyBert()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 15))
log = []
for epoch in range(2):
    order = torch.randperm(len(data))
    for step, idx in enumerate(order.split(24)):
        ids, labels = mask_tokens(data[idx])
        logits = model(ids)
        loss = F.cross_entropy(logits.view(-1, V), labels.view(-1), ignore_index=-100)
        opt.zero_grad()
        loss.backward()
        opt.step()
        warmup.step()
        log.append(loss.item())
        if step % 20 == 0:
            print(f'epoch {epoch} step {step:3d} mlm loss {loss.item():.4f}')

model.eval()
with torch.no_grad():
    ids, labels = mask_tokens(heldout)
    at = labels != -100
    pred = model(ids)[at].argmax(-1)
    print('held-out masked accuracy', (pred == labels[at]).float().mean().item())
print('mean loss, last 20 steps', sum(log[-20:]) / 20)
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import Counter
torch.set_num_threads(1)
torch.manual_seed(77)

V, SEQ, MASK = 8000, 48, 1

# corpus with Zipf-like unigrams and strong bigrams
zipf = 1.0 / torch.arange(1, V - 9).float()
partner = torch.randint(10, V, (V,))

def corpus(n):
    ids = torch.multinomial(zipf, n * SEQ, replacement=True).view(n, SEQ) + 10
    copy = torch.rand(n, SEQ) < 0.5
    for j in range(1, SEQ):
        ids[:, j] = torch.where(copy[:, j], partner[ids[:, j - 1]], ids[:, j])
    return ids

data = corpus(960)
heldout = corpus(64)
top = Counter(data.flatten().tolist()).most_common(3)
print('most common tokens', top)


class TinyBert(nn.Module):
    def __init__(self, d=64, layers=2):
        super().__init__()
        self.tok = nn.Embedding(V, d)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, d))
        layer = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.transform = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.LayerNorm(d))
        self.decoder = nn.Linear(d, V)

    def forward(self, ids, at):
        h = self.encoder(self.tok(ids) + self.pos)[at]
        return self.decoder(self.transform(h))


def mask_tokens(ids):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < 0.15
    chosen[:, 0] = True
    labels[~chosen] = -100
    masked = ids.clone()
    masked[chosen & (torch.rand(ids.shape) < 0.9)] = MASK
    return masked, labels


model = TinyBert()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 15))
log = []
for epoch in range(2):
    order = torch.randperm(len(data))
    for step, idx in enumerate(order.split(24)):
        ids, labels = mask_tokens(data[idx])
        at = labels != -100
        loss = F.cross_entropy(model(ids, at), labels[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
        warmup.step()
        log.append(loss.item())
        if step % 20 == 0:
            print(f'epoch {epoch} step {step:3d} mlm loss {loss.item():.4f}')

model.eval()
with torch.no_grad():
    ids, labels = mask_tokens(heldout)
    at = labels != -100
    pred = model(ids, at).argmax(-1)
    print('held-out masked accuracy', (pred == labels[at]).float().mean().item())
print('mean loss, last 20 steps', sum(log[-20:]) / 20)
"""
