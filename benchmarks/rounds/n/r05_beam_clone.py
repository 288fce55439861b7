NAME = 'Trains a small GRU seq2seq model to reverse and shift symbol strings, then decodes the test set with beam search.'
FAULT = 'Beam search turns every one of beam x vocabulary continuations into a Python candidate with its own copied hidden state and token list before sorting and keeping only a few.'
CURE = 'Take topk over the flat beam x vocabulary scores first and build only the surviving hypotheses.'
KIND = 'time'
FAULT_LINES = ['candidates.append((score + logp[tok].item(), toks + [tok], h_new.clone()))', 'for tok in range(VOCAB):', 'candidates.sort(key=lambda c: -c[0])']
FAULT_CALLS = ['beam_search', 'append', 'item', 'clone', 'sort', 'getitem', 'select']
FAULTY = r"""
import torch
from torch import nn
import torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(5)

VOCAB, PAD, BOS = 90, 0, 1      # 2.. are symbols
LEN = 9

def make_pairs(n):
    src = torch.randint(2, VOCAB, (n, LEN))
    # easier language: neighbouring symbols are correlated
    src[:, 1::2] = (src[:, 0:-1:2] - 2 + torch.randint(0, 4, src[:, 1::2].shape)) % (VOCAB - 2) + 2
    tgt = (src.flip(1) - 2 + 7) % (VOCAB - 2) + 2
    return src, tgt

class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.gru = nn.GRU(d, d, batch_first=True)
    def forward(self, x):
        return self.gru(self.emb(x))

class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.cell = nn.GRUCell(2 * d, d)
        self.query = nn.Linear(d, d)
        self.out = nn.Linear(2 * d, VOCAB)
    def step(self, tok, h, memory):
        att = torch.softmax((memory @ self.query(h).unsqueeze(2)).squeeze(2), dim=1)
        ctx = (att.unsqueeze(1) @ memory).squeeze(1)
        h = self.cell(torch.cat([self.emb(tok), ctx], 1), h)
        return self.out(torch.cat([h, ctx], 1)), h

D = 64
enc, dec = Encoder(D), Decoder(D)
params = list(enc.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=4e-3)
for it in range(230):
    src, tgt = make_pairs(64)
    memory, h = enc(src)
    h = h[0]
    tok = torch.full((64,), BOS)
    loss = 0.
    for k in range(LEN):
        logits, h = dec.step(tok, h, memory)
        loss = loss + F.cross_entropy(logits, tgt[:, k])
        tok = tgt[:, k]
    opt.zero_grad()
    (loss / LEN).backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    if it % 46 == 45:
        print(f'{it + 1:4d}  loss per symbol {loss.item() / LEN:.4f}')

def beam_search(src, beam=5):
    memory, h = enc(src.unsqueeze(0))
    beams = [(0.0, [BOS], h[0])]
    for _ in range(LEN):
        tokens = torch.tensor([b[1][-1] for b in beams])
        hidden = torch.cat([b[2] for b in beams])
        logits, hidden = dec.step(tokens, hidden, memory.expand(len(beams), -1, -1))
        logps = F.log_softmax(logits, dim=1)
        candidates = []
        for b, (score, toks, _) in enumerate(beams):
            logp, h_new = logps[b], hidden[b:b + 1]
            for tok in range(VOCAB):
                candidates.append((score + logp[tok].item(), toks + [tok], h_new.clone()))
        candidates.sort(key=lambda c: -c[0])
        beams = candidates[:beam]
    return beams[0][1][1:]

enc.eval(); dec.eval()
src, tgt = make_pairs(200)
exact = symbols = 0
with torch.no_grad():
    for s, t in zip(src, tgt):
        hyp = torch.tensor(beam_search(s))
        exact += int((hyp == t).all())
        symbols += (hyp == t).float().mean().item()
print(f'exact match {exact / 200:.3f}   symbol accuracy {symbols / 200:.3f}')
for s, t in list(zip(src, tgt))[:3]:
    print(s.tolist(), '->', beam_search(s), 'expected', t.tolist())
"""
CURED = r"""
import torch
from torch import nn
import torch.nn.functional as F
torch.set_num_threads(1)
torch.manual_seed(5)

VOCAB, PAD, BOS = 90, 0, 1      # 2.. are symbols
LEN = 9

def make_pairs(n):
    src = torch.randint(2, VOCAB, (n, LEN))
    # easier language: neighbouring symbols are correlated
    src[:, 1::2] = (src[:, 0:-1:2] - 2 + torch.randint(0, 4, src[:, 1::2].shape)) % (VOCAB - 2) + 2
    tgt = (src.flip(1) - 2 + 7) % (VOCAB - 2) + 2
    return src, tgt

class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.gru = nn.GRU(d, d, batch_first=True)
    def forward(self, x):
        return self.gru(self.emb(x))

class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.cell = nn.GRUCell(2 * d, d)
        self.query = nn.Linear(d, d)
        self.out = nn.Linear(2 * d, VOCAB)
    def step(self, tok, h, memory):
        att = torch.softmax((memory @ self.query(h).unsqueeze(2)).squeeze(2), dim=1)
        ctx = (att.unsqueeze(1) @ memory).squeeze(1)
        h = self.cell(torch.cat([self.emb(tok), ctx], 1), h)
        return self.out(torch.cat([h, ctx], 1)), h

D = 64
enc, dec = Encoder(D), Decoder(D)
params = list(enc.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=4e-3)
for it in range(230):
    src, tgt = make_pairs(64)
    memory, h = enc(src)
    h = h[0]
    tok = torch.full((64,), BOS)
    loss = 0.
    for k in range(LEN):
        logits, h = dec.step(tok, h, memory)
        loss = loss + F.cross_entropy(logits, tgt[:, k])
        tok = tgt[:, k]
    opt.zero_grad()
    (loss / LEN).backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    if it % 46 == 45:
        print(f'{it + 1:4d}  loss per symbol {loss.item() / LEN:.4f}')

def beam_search(src, beam=5):
    memory, h = enc(src.unsqueeze(0))
    beams = [(0.0, [BOS], h[0])]
    for _ in range(LEN):
        tokens = torch.tensor([b[1][-1] for b in beams])
        hidden = torch.cat([b[2] for b in beams])
        logits, hidden = dec.step(tokens, hidden, memory.expand(len(beams), -1, -1))
        logps = F.log_softmax(logits, dim=1)
        totals = logps + torch.tensor([b[0] for b in beams]).unsqueeze(1)
        best, flat = totals.flatten().topk(beam)
        survivors = []
        for score, f in zip(best.tolist(), flat.tolist()):
            b, tok = divmod(f, VOCAB)
            survivors.append((score, beams[b][1] + [tok], hidden[b:b + 1]))
        beams = survivors
    return beams[0][1][1:]

enc.eval(); dec.eval()
src, tgt = make_pairs(200)
exact = symbols = 0
with torch.no_grad():
    for s, t in zip(src, tgt):
        hyp = torch.tensor(beam_search(s))
        exact += int((hyp == t).all())
        symbols += (hyp == t).float().mean().item()
print(f'exact match {exact / 200:.3f}   symbol accuracy {symbols / 200:.3f}')
for s, t in list(zip(src, tgt))[:3]:
    print(s.tolist(), '->', beam_search(s), 'expected', t.tolist())
"""
