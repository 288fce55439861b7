NAME = 'h01_mlm_pretrain'
FAULT = 'The vocabulary projection (and the cross-entropy) is computed for every token position although only the ~15% masked positions enter the loss and the accuracy.'
CURE = 'Pick the masked positions first (hidden states h[masked]) and project only those to the vocabulary.'
KIND = 'time'
FAULT_LINES = [
    '        return self.decoder(F.gelu(self.transform(h)))',
    '    logits = model(inputs)',
    '    loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)',
]
FAULT_CALLS = ['aten::addmm', 'aten::mm', 'torch.nn.functional.linear', 'torch.nn.functional.cross_entropy', 'aten::_log_softmax', 'aten::_log_softmax_backward_data']
FAULTY = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

VOCAB, SEQ, BATCH, DIM = 6000, 64, 24, 128
MASK_ID, PAD_ID = 1, 0

# synthetic "product titles": zipf tokens, every token is followed by a near neighbour
def make_corpus(n):
    ranks = torch.arange(2, VOCAB, dtype=torch.float)
    probs = 1.0 / ranks
    first = torch.multinomial(probs, n * SEQ // 2, replacement=True) + 2
    second = (first * 7 + 13) % (VOCAB - 2) + 2
    return torch.stack([first, second], 1).view(n, SEQ)

corpus = make_corpus(4000)

def mask_tokens(ids, p=0.15):
    labels = ids.clone()
    masked = torch.rand(ids.shape) < p
    labels[~masked] = -100
    inputs = ids.clone()
    roll = torch.rand(ids.shape)
    inputs[masked & (roll < 0.8)] = MASK_ID
    rnd = masked & (roll >= 0.9)
    inputs[rnd] = torch.randint(2, VOCAB, (int(rnd.sum()),))
    return inputs, labels

class TitleBert(nn.Module):
    def __init__(self, layers=2, heads=4):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM, padding_idx=PAD_ID)
        self.pos = nn.Parameter(torch.randn(1, SEQ, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, heads, 4 * DIM, dropout=0.0,
                                           activation='gelu', batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.transform = nn.Linear(DIM, DIM)
        self.decoder = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        h = self.encoder(self.tok(ids) * math.sqrt(DIM) * 0.1 + self.pos)
        return self.decoder(F.gelu(self.transform(h)))

model = TitleBert()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
steps = 45
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=steps)

model.train()
order = torch.randperm(len(corpus))
for step in range(steps):
    ids = corpus[order[step * BATCH:(step + 1) * BATCH]]
    inputs, labels = mask_tokens(ids)
    masked = labels != -100

    logits = model(inputs)
    loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=-100)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    sched.step()

    if step % 10 == 0 or step == steps - 1:
        pred = logits[masked].argmax(-1)
        acc = (pred == labels[masked]).float().mean()
        print(f"step {step:3d}  mlm loss {loss.item():.3f}  masked acc {acc.item():.3f}")

print("parameters:", sum(p.numel() for p in model.parameters()))
'''
CURED = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

VOCAB, SEQ, BATCH, DIM = 6000, 64, 24, 128
MASK_ID, PAD_ID = 1, 0

# synthetic "product titles": zipf tokens, every token is followed by a near neighbour
def make_corpus(n):
    ranks = torch.arange(2, VOCAB, dtype=torch.float)
    probs = 1.0 / ranks
    first = torch.multinomial(probs, n * SEQ // 2, replacement=True) + 2
    second = (first * 7 + 13) % (VOCAB - 2) + 2
    return torch.stack([first, second], 1).view(n, SEQ)

corpus = make_corpus(4000)

def mask_tokens(ids, p=0.15):
    labels = ids.clone()
    masked = torch.rand(ids.shape) < p
    labels[~masked] = -100
    inputs = ids.clone()
    roll = torch.rand(ids.shape)
    inputs[masked & (roll < 0.8)] = MASK_ID
    rnd = masked & (roll >= 0.9)
    inputs[rnd] = torch.randint(2, VOCAB, (int(rnd.sum()),))
    return inputs, labels

class TitleBert(nn.Module):
    def __init__(self, layers=2, heads=4):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM, padding_idx=PAD_ID)
        self.pos = nn.Parameter(torch.randn(1, SEQ, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, heads, 4 * DIM, dropout=0.0,
                                           activation='gelu', batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.transform = nn.Linear(DIM, DIM)
        self.decoder = nn.Linear(DIM, VOCAB)

    def forward(self, ids, masked):
        h = self.encoder(self.tok(ids) * math.sqrt(DIM) * 0.1 + self.pos)
        return self.decoder(F.gelu(self.transform(h[masked])))

model = TitleBert()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
steps = 45
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=steps)

model.train()
order = torch.randperm(len(corpus))
for step in range(steps):
    ids = corpus[order[step * BATCH:(step + 1) * BATCH]]
    inputs, labels = mask_tokens(ids)
    masked = labels != -100

    logits = model(inputs, masked)
    loss = F.cross_entropy(logits, labels[masked])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    sched.step()

    if step % 10 == 0 or step == steps - 1:
        pred = logits.argmax(-1)
        acc = (pred == labels[masked]).float().mean()
        print(f"step {step:3d}  mlm loss {loss.item():.3f}  masked acc {acc.item():.3f}")

print("parameters:", sum(p.numel() for p in model.parameters()))
'''
