NAME = 'e06_cloze_probe'

FAULT = 'The vocabulary head is run over all positions of each sentence although only the masked position is read.'

CURE = 'Pick the hidden state at the masked position first and run the head over that alone.'

KIND = 'time'

FAULT_LINES = [
    '        return self.decoder(self.head(h))',
    '        logits = model(tok)',
    '        at_mask = logits[torch.arange(len(tok)), pos]',
]

FAULT_CALLS = [
    'nn.Linear',
    'F.linear',
    'aten::addmm',
    'TinyBert.forward',
]

FAULTY = r'''
import torch
import torch.nn as nn

torch.manual_seed(21)
torch.set_num_threads(1)

VOCAB, DIM, LEN, MASK = 16000, 160, 40, 3


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(LEN, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 4 * DIM, 0.0, activation="gelu", batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.Linear(DIM, DIM), nn.GELU(), nn.LayerNorm(DIM))
        self.decoder = nn.Linear(DIM, VOCAB)
        self.decoder.weight = self.emb.weight

    def forward(self, tok):
        h = self.body(self.emb(tok) + self.pos.weight[: tok.shape[1]])
        return self.decoder(self.head(h))


def cloze_items(n):
    """One masked word per sentence, with the right word and 9 distractors."""
    for _ in range(n):
        sent = torch.randint(10, VOCAB, (LEN,))
        where = torch.randint(1, LEN - 1, (1,)).item()
        answer = sent[where].item()
        sent[where] = MASK
        wrong = torch.randint(10, VOCAB, (9,))
        yield sent, where, torch.cat([torch.tensor([answer]), wrong])


model = TinyBert().eval()
items = list(cloze_items(2200))
print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters, {len(items)} cloze items")

ranks, correct, entropy = [], 0, 0.0
with torch.no_grad():
    for i in range(0, len(items), 32):
        chunk = items[i:i + 32]
        tok = torch.stack([c[0] for c in chunk])
        pos = torch.tensor([c[1] for c in chunk])
        cand = torch.stack([c[2] for c in chunk])
        logits = model(tok)
        at_mask = logits[torch.arange(len(tok)), pos]
        logp = at_mask.log_softmax(-1)
        entropy += -(logp.exp() * logp).sum(-1).sum().item()
        cand_lp = logp.gather(1, cand)
        correct += (cand_lp.argmax(1) == 0).sum().item()
        ranks.append((logp > cand_lp[:, :1]).sum(1) + 1)

ranks = torch.cat(ranks).float()
print(f"10-way accuracy {correct / len(items):.4f}")
print(f"mean rank {ranks.mean():.1f}  MRR {(1 / ranks).mean():.5f}  entropy {entropy / len(items):.4f}")
'''

CURED = r'''
import torch
import torch.nn as nn

torch.manual_seed(21)
torch.set_num_threads(1)

VOCAB, DIM, LEN, MASK = 16000, 160, 40, 3


class TinyBert(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Embedding(LEN, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 4 * DIM, 0.0, activation="gelu", batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.Linear(DIM, DIM), nn.GELU(), nn.LayerNorm(DIM))
        self.decoder = nn.Linear(DIM, VOCAB)
        self.decoder.weight = self.emb.weight

    def forward(self, tok, pos):
        h = self.body(self.emb(tok) + self.pos.weight[: tok.shape[1]])
        h = h[torch.arange(len(tok)), pos]
        return self.decoder(self.head(h))


def cloze_items(n):
    """One masked word per sentence, with the right word and 9 distractors."""
    for _ in range(n):
        sent = torch.randint(10, VOCAB, (LEN,))
        where = torch.randint(1, LEN - 1, (1,)).item()
        answer = sent[where].item()
        sent[where] = MASK
        wrong = torch.randint(10, VOCAB, (9,))
        yield sent, where, torch.cat([torch.tensor([answer]), wrong])


model = TinyBert().eval()
items = list(cloze_items(2200))
print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters, {len(items)} cloze items")

ranks, correct, entropy = [], 0, 0.0
with torch.no_grad():
    for i in range(0, len(items), 32):
        chunk = items[i:i + 32]
        tok = torch.stack([c[0] for c in chunk])
        pos = torch.tensor([c[1] for c in chunk])
        cand = torch.stack([c[2] for c in chunk])
        at_mask = model(tok, pos)
        logp = at_mask.log_softmax(-1)
        entropy += -(logp.exp() * logp).sum(-1).sum().item()
        cand_lp = logp.gather(1, cand)
        correct += (cand_lp.argmax(1) == 0).sum().item()
        ranks.append((logp > cand_lp[:, :1]).sum(1) + 1)

ranks = torch.cat(ranks).float()
print(f"10-way accuracy {correct / len(items):.4f}")
print(f"mean rank {ranks.mean():.1f}  MRR {(1 / ranks).mean():.5f}  entropy {entropy / len(items):.4f}")
'''
