NAME = 'Pre-trains a tiny BERT-like encoder with masked-token prediction on synthetic token sequences.'
FAULT = 'The vocabulary head (and the softmax of the loss) is computed for every position although only the ~15% masked positions enter the loss (the rest is ignore_index).'
CURE = 'Select the masked positions from the hidden states before the vocabulary head and compute the loss on them alone.'
KIND = 'time'
FAULT_LINES = [
    'logits = self.decoder(self.transform(h))',
    'loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)',
    'logits = model(inp)',
]
FAULT_CALLS = [
    'linear',
    'decoder',
    'cross_entropy',
    'addmm',
    'backward',
    'log_softmax',
    'forward',
]
FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

VOCAB, D, SEQ, BATCH, MASK_ID = 12000, 128, 64, 16, 1


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, D))
        layer = nn.TransformerEncoderLayer(D, 4, 2 * D, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.transform = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.LayerNorm(D))
        self.decoder = nn.Linear(D, VOCAB)

    def forward(self, ids):
        h = self.enc(self.tok(ids) + self.pos)
        logits = self.decoder(self.transform(h))
        return logits


def corpus(n):
    # Zipf-like tokens with local repetition
    base = (VOCAB ** torch.rand(n, SEQ)).long().clamp(2, VOCAB - 1)
    rep = torch.rand(n, SEQ) < 0.3
    return torch.where(rep, base.roll(1, dims=1), base)


def mask_tokens(ids):
    labels = ids.clone()
    picked = torch.rand(ids.shape) < 0.15
    labels[~picked] = -100
    inp = ids.clone()
    inp[picked] = MASK_ID
    return inp, labels


data = corpus(BATCH * 24)
model = TinyBert()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
model.train()
for step, ids in enumerate(data.split(BATCH)):
    inp, labels = mask_tokens(ids)
    logits = model(inp)
    loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 0:
        print(f"step {step:3d}  mlm loss {loss.item():.4f}")
print(f"last loss {loss.item():.4f}")
"""
CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

VOCAB, D, SEQ, BATCH, MASK_ID = 12000, 128, 64, 16, 1


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, D))
        layer = nn.TransformerEncoderLayer(D, 4, 2 * D, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.transform = nn.Sequential(nn.Linear(D, D), nn.GELU(), nn.LayerNorm(D))
        self.decoder = nn.Linear(D, VOCAB)

    def forward(self, ids, where):
        h = self.enc(self.tok(ids) + self.pos)[where]
        logits = self.decoder(self.transform(h))
        return logits


def corpus(n):
    # Zipf-like tokens with local repetition
    base = (VOCAB ** torch.rand(n, SEQ)).long().clamp(2, VOCAB - 1)
    rep = torch.rand(n, SEQ) < 0.3
    return torch.where(rep, base.roll(1, dims=1), base)


def mask_tokens(ids):
    labels = ids.clone()
    picked = torch.rand(ids.shape) < 0.15
    labels[~picked] = -100
    inp = ids.clone()
    inp[picked] = MASK_ID
    return inp, labels


data = corpus(BATCH * 24)
model = TinyBert()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
model.train()
for step, ids in enumerate(data.split(BATCH)):
    inp, labels = mask_tokens(ids)
    picked = labels != -100
    logits = model(inp, picked)
    loss = F.cross_entropy(logits, labels[picked])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 0:
        print(f"step {step:3d}  mlm loss {loss.item():.4f}")
print(f"last loss {loss.item():.4f}")
"""
