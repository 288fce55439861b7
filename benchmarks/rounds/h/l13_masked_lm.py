NAME = 'Masked-language-model pretraining of a small BERT on synthetic text.'
FAULT = 'The vocabulary projection and softmax run over all positions although only the 15 % masked ones enter the loss.'
CURE = 'Select the masked positions before the vocabulary projection.'
KIND = 'time'
FAULT_LINES = [
    'logits = F.linear(h, self.tok.weight, self.bias)',
    'return F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)',
    'loss = bert.loss(inputs, labels)',
]
FAULT_CALLS = ['linear', 'F.linear', 'F.cross_entropy', 'cross_entropy', 'TinyBert.loss', 'loss', 'aten::linear', 'aten::addmm', 'aten::mm', 'aten::log_softmax', 'aten::_log_softmax', 'aten::_log_softmax_backward_data', 'aten::cross_entropy_loss', 'backward']
FAULTY = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

VOCAB, MASK, SEQ, DIM = 8000, 1, 64, 128
BATCH, STEPS = 16, 60
P_MASK = 0.15

# toy corpus: bigram-ish chains of words inside random "topics"
succ = (2 + (VOCAB - 2) * rng.random((VOCAB, 4)) ** 3).astype(np.int64)


def corpus(n):
    out = np.empty((n, SEQ), dtype=np.int64)
    out[:, 0] = rng.integers(2, 400, n)
    for t in range(1, SEQ):
        jump = rng.random(n) < 0.05
        nxt = succ[out[:, t - 1], rng.integers(0, 4, n)]
        out[:, t] = np.where(jump, rng.integers(2, 400, n), nxt)
    return torch.from_numpy(out)


texts = corpus(1500)


def mask_tokens(ids):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < P_MASK
    labels[~chosen] = -100
    inputs = ids.clone()
    r = torch.rand(ids.shape)
    inputs[chosen & (r < 0.8)] = MASK
    swap = chosen & (r > 0.9)
    inputs[swap] = torch.randint(2, VOCAB, (int(swap.sum()),))
    return inputs, labels


class Block(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, DIM))
        self.blocks = nn.Sequential(Block(DIM), Block(DIM))
        self.norm = nn.LayerNorm(DIM)
        self.bias = nn.Parameter(torch.zeros(VOCAB))
        nn.init.normal_(self.tok.weight, std=0.02)

    def forward(self, ids):
        h = self.blocks(self.tok(ids) + self.pos)
        return self.norm(h)

    def loss(self, ids, labels):
        h = self(ids)
        logits = F.linear(h, self.tok.weight, self.bias)
        return F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)


bert = TinyBert()
opt = torch.optim.AdamW(bert.parameters(), lr=2e-3, weight_decay=0.01)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
history = []
for step in range(STEPS):
    batch = texts[torch.randint(0, len(texts), (BATCH,))]
    inputs, labels = mask_tokens(batch)
    loss = bert.loss(inputs, labels)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
    opt.step()
    warm.step()
    history.append(loss.item())

print(f'uniform {math.log(VOCAB):.3f}; first 5 steps {np.mean(history[:5]):.3f}, '
      f'last 5 steps {np.mean(history[-5:]):.3f}')
"""
CURED = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

VOCAB, MASK, SEQ, DIM = 8000, 1, 64, 128
BATCH, STEPS = 16, 60
P_MASK = 0.15

# toy corpus: bigram-ish chains of words inside random "topics"
succ = (2 + (VOCAB - 2) * rng.random((VOCAB, 4)) ** 3).astype(np.int64)


def corpus(n):
    out = np.empty((n, SEQ), dtype=np.int64)
    out[:, 0] = rng.integers(2, 400, n)
    for t in range(1, SEQ):
        jump = rng.random(n) < 0.05
        nxt = succ[out[:, t - 1], rng.integers(0, 4, n)]
        out[:, t] = np.where(jump, rng.integers(2, 400, n), nxt)
    return torch.from_numpy(out)


texts = corpus(1500)


def mask_tokens(ids):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < P_MASK
    labels[~chosen] = -100
    inputs = ids.clone()
    r = torch.rand(ids.shape)
    inputs[chosen & (r < 0.8)] = MASK
    swap = chosen & (r > 0.9)
    inputs[swap] = torch.randint(2, VOCAB, (int(swap.sum()),))
    return inputs, labels


class Block(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, DIM))
        self.blocks = nn.Sequential(Block(DIM), Block(DIM))
        self.norm = nn.LayerNorm(DIM)
        self.bias = nn.Parameter(torch.zeros(VOCAB))
        nn.init.normal_(self.tok.weight, std=0.02)

    def forward(self, ids):
        h = self.blocks(self.tok(ids) + self.pos)
        return self.norm(h)

    def loss(self, ids, labels):
        h = self(ids)
        picked = labels != -100
        logits = F.linear(h[picked], self.tok.weight, self.bias)
        return F.cross_entropy(logits, labels[picked])


bert = TinyBert()
opt = torch.optim.AdamW(bert.parameters(), lr=2e-3, weight_decay=0.01)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
history = []
for step in range(STEPS):
    batch = texts[torch.randint(0, len(texts), (BATCH,))]
    inputs, labels = mask_tokens(batch)
    loss = bert.loss(inputs, labels)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
    opt.step()
    warm.step()
    history.append(loss.item())

print(f'uniform {math.log(VOCAB):.3f}; first 5 steps {np.mean(history[:5]):.3f}, '
      f'last 5 steps {np.mean(history[-5:]):.3f}')
"""
