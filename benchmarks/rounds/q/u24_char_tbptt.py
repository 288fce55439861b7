NAME = 'Trains a character-level GRU language model with truncated backpropagation and keeps the best weights.'
FAULT = None
CURE = None
KIND = None
WHY = 'The hidden state is detached after every chunk, the loss is read with item() in every step, and weights are copied and saved once an epoch, but all of this is needed or costs next to nothing on the CPU beside the GRU.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import copy
import gc
import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(111)

STREAMS, CHUNK, HIDDEN = 48, 40, 256
WORDS = ("the harbour lay still under a pale morning sky while boats moved out past the old stone wall and gulls "
         "cried above nets drying in salt wind nobody on deck spoke of storms").split()


def make_text(n_words):
    picks = torch.randint(0, len(WORDS), (n_words,)).tolist()
    out = []
    for i, k in enumerate(picks):
        word = WORDS[(k + 3 * (i % 4)) % len(WORDS)]
        out.append(word + ("." if i % 9 == 8 else ""))
    return " ".join(out)


text = make_text(14000)
alphabet = sorted(set(text))
codes = {c: i for i, c in enumerate(alphabet)}
data = torch.tensor([codes[c] for c in text])
cut = int(0.9 * len(data))


def as_streams(ids):
    length = len(ids) // STREAMS
    return ids[:length * STREAMS].view(STREAMS, length)


class CharGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(alphabet), 32)
        self.gru = nn.GRU(32, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, len(alphabet))

    def forward(self, ids, h=None):
        y, h = self.gru(self.emb(ids), h)
        return self.out(y), h


def run(model, streams, opt=None):
    h, total, steps = None, 0.0, 0
    for lo in range(0, streams.shape[1] - CHUNK, CHUNK):
        ids = streams[:, lo:lo + CHUNK]
        target = streams[:, lo + 1:lo + CHUNK + 1]
        logits, h = model(ids, h)
        h = h.detach()
        loss = F.cross_entropy(logits.transpose(1, 2), target)
        if opt is not None:
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        total += loss.item()
        steps += 1
    return total / steps


train, val = as_streams(data[:cut]), as_streams(data[cut:])
model = CharGRU()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
best, best_weights = math.inf, None

with tempfile.TemporaryDirectory() as folder:
    for epoch in range(3):
        train_loss = run(model, train, opt)
        with torch.no_grad():
            val_loss = run(model, val)
        if val_loss < best:
            best, best_weights = val_loss, copy.deepcopy(model.state_dict())
            torch.save({"model": best_weights, "opt": opt.state_dict()}, os.path.join(folder, "best.pt"))
        gc.collect()
        print(f"epoch {epoch}  train {train_loss:.3f}  val {val_loss:.3f}")

model.load_state_dict(best_weights)
h, ids = None, torch.tensor([[codes["t"]]])
with torch.no_grad():
    written = "t"
    for _ in range(60):
        logits, h = model(ids, h)
        ids = logits[:, -1].argmax(1, keepdim=True)
        written += alphabet[ids.item()]
print(f"best bits per character {best / math.log(2):.3f}")
print(written[:24])
'''
