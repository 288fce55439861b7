NAME = "Trains a listen-attend-spell model on synthetic spoken digit strings and transcribes held-out utterances greedily."
FAULT = "The greedy decoder runs the bidirectional GRU encoder over the whole utterance again for each output symbol."
CURE = "Encode the utterances once before the decoding loop."
KIND = "time"
FAULT_LINES = [
    "logits, state = self.spell(self.listen(feats), prev, state)",
    "hyp = model.transcribe(feats[idx], MAX_OUT)",
]
FAULT_CALLS = ["listen", "transcribe", "gru", "GRU", "GRU.forward", "forward", "linear", "addmm", "mm"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)
rng = np.random.default_rng(8)

MELS, FRAMES, DIGITS = 24, 120, 6
BOS, VOCAB = 10, 11
MAX_OUT = DIGITS


def synth(n):
    """Every digit is a noisy spectral template of 14 to 20 frames."""
    templates = np.random.default_rng(1).normal(size=(10, MELS))
    X = 0.3 * rng.normal(size=(n, FRAMES, MELS))
    Y = rng.integers(0, 10, size=(n, DIGITS))
    for u in range(n):
        t = 0
        for d in Y[u]:
            dur = rng.integers(14, 21)
            X[u, t:t + dur] += templates[d] * np.hanning(dur + 2)[1:-1, None][:len(X[u, t:t + dur])]
            t += dur
    return torch.tensor(X, dtype=torch.float32), torch.tensor(Y)


class Speller(nn.Module):
    def __init__(self, hid=64):
        super().__init__()
        self.rnn = nn.GRU(2 * MELS, hid, num_layers=2, batch_first=True, bidirectional=True)
        self.key = nn.Linear(2 * hid, hid)
        self.emb = nn.Embedding(VOCAB, hid)
        self.cell = nn.GRUCell(3 * hid, hid)
        self.out = nn.Linear(3 * hid, VOCAB)

    def listen(self, feats):
        b, t, m = feats.shape
        memory, _ = self.rnn(feats.reshape(b, t // 2, 2 * m))
        return memory, self.key(memory)

    def start(self, b):
        return (torch.zeros(b, self.cell.hidden_size), torch.zeros(b, self.key.in_features))

    def spell(self, heard, prev, state):
        memory, keys = heard
        h, context = state
        h = self.cell(torch.cat([self.emb(prev), context], dim=1), h)
        score = torch.einsum("bh,bth->bt", h, keys) / keys.size(-1) ** 0.5
        context = torch.einsum("bt,btd->bd", score.softmax(-1), memory)
        return self.out(torch.cat([h, context], dim=1)), (h, context)

    def forward(self, feats, targets):
        heard = self.listen(feats)
        state = self.start(len(feats))
        prev = torch.full((len(feats),), BOS)
        logits = []
        for k in range(targets.size(1)):
            step, state = self.spell(heard, prev, state)
            logits.append(step)
            prev = targets[:, k]
        return torch.stack(logits, dim=1)

    @torch.no_grad()
    def transcribe(self, feats, max_out):
        state = self.start(len(feats))
        prev = torch.full((len(feats),), BOS)
        symbols = []
        for _ in range(max_out):
            logits, state = self.spell(self.listen(feats), prev, state)
            prev = logits.argmax(-1)
            symbols.append(prev)
        return torch.stack(symbols, dim=1)


feats, digits = synth(700)
val_feats, val_digits = synth(560)
model = Speller()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(5):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(feats)).split(50):
        loss = F.cross_entropy(model(feats[idx], digits[idx]).flatten(0, 1), digits[idx].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
        total += loss.item()

    model.eval()
    wrong = 0
    for idx in torch.arange(len(val_feats)).split(50):
        hyp = model.transcribe(val_feats[idx], MAX_OUT)
        wrong += (hyp != val_digits[idx]).sum().item()
    print(f"epoch {epoch}: loss {total / 14:.3f}  symbol error rate {wrong / val_digits.numel():.3f}")
'''
FAULT_LINES[1] = "hyp = model.transcribe(val_feats[idx], MAX_OUT)"
CURED = (FAULTY
    .replace("        symbols = []\n", "        symbols = []\n        heard = self.listen(feats)\n")
    .replace("self.spell(self.listen(feats), prev, state)", "self.spell(heard, prev, state)"))
