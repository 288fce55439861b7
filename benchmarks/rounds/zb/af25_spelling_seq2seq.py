NAME = "A character GRU encoder-decoder is trained to correct misspelled invented words and then corrects a held-out list greedily."
FAULT = "At every decoding step the decoder GRU is run over the whole prefix from the encoder's state again, though only the newest character is new, so the work grows with the square of the word length."
CURE = "Carry the decoder's hidden state along and feed only the last character at each step."
KIND = "time"
FAULT_LINES = ["out, _ = self.dec(self.emb(ys), h)", "logits = self.head(out[:, -1])", "for _ in range(max_len):"]
FAULT_CALLS = ["gru", "correct", "linear", "addmm", "mm"]
FAULTY = r'''
import random, time
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(11)
torch.manual_seed(11)

PAD, BOS, EOS = 0, 1, 2
LETTERS = "abcdefghijklmnopqrstuvwxyz"
C2I = {c: i + 3 for i, c in enumerate(LETTERS)}
I2C = {i: c for c, i in C2I.items()}
V = len(LETTERS) + 3

SYL = [a + b + c for a in "bdfklmnprstv" for b in "aeiou" for c in ("", "n", "r", "s")]


def make_word():
    return "".join(random.choice(SYL) for _ in range(random.randint(6, 10)))


def misspell(w):
    w = list(w)
    for _ in range(random.choice([1, 1, 2])):
        i = random.randrange(len(w) - 1)
        kind = random.random()
        if kind < 0.35:
            w[i], w[i + 1] = w[i + 1], w[i]
        elif kind < 0.7:
            w[i] = random.choice(LETTERS)
        else:
            del w[i]
    return "".join(w)


def encode(words, extra=0):
    L = max(len(w) for w in words) + extra
    t = torch.zeros(len(words), L, dtype=torch.long)
    for r, w in enumerate(words):
        t[r, :len(w)] = torch.tensor([C2I[c] for c in w])
    return t


class Speller(nn.Module):
    def __init__(self, d=48, h=128):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=PAD)
        self.enc = nn.GRU(d, h, batch_first=True)
        self.dec = nn.GRU(d, h, batch_first=True)
        self.head = nn.Linear(h, V)

    def forward(self, src, tgt_in):
        _, h = self.enc(self.emb(src))
        out, _ = self.dec(self.emb(tgt_in), h)
        return self.head(out)

    @torch.no_grad()
    def correct(self, src, max_len=36):
        _, h = self.enc(self.emb(src))
        ys = torch.full((src.size(0), 1), BOS)
        for _ in range(max_len):
            out, _ = self.dec(self.emb(ys), h)
            logits = self.head(out[:, -1])
            ys = torch.cat([ys, logits.argmax(-1, keepdim=True)], dim=1)
        return ys[:, 1:]


vocab = [make_word() for _ in range(5000)]
train_w, test_w = vocab[:2000], vocab[2000:]

model = Speller()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(1, 61):
    tgt_words = random.sample(train_w, 64)
    src = encode([misspell(w) for w in tgt_words])
    tgt = encode(tgt_words, extra=1)
    for r, w in enumerate(tgt_words):
        tgt[r, len(w)] = EOS
    tgt_in = torch.cat([torch.full((64, 1), BOS), tgt[:, :-1]], dim=1)
    loss = F.cross_entropy(model(src, tgt_in).transpose(1, 2), tgt, ignore_index=PAD)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.3f}")

model.eval()
right_chars = total_chars = 0
for i in range(0, len(test_w), 200):
    words = test_w[i:i + 200]
    pred = model.correct(encode([misspell(w) for w in words]))
    gold = encode(words)
    n = min(gold.size(1), pred.size(1))
    mask = gold[:, :n] != PAD
    right_chars += ((pred[:, :n] == gold[:, :n]) & mask).sum().item()
    total_chars += mask.sum().item()
print(f"character accuracy {right_chars / total_chars:.4f} on {len(test_w)} words")
sample = pred[0].tolist()
print("example:", words[0], "->", "".join(I2C.get(i, ".") for i in sample))
'''
CURED = FAULTY.replace("out, _ = self.dec(self.emb(ys), h)", "out, h = self.dec(self.emb(ys[:, -1:]), h)")
