NAME = "Trains an LSTM sequence-to-sequence model with attention on a toy word-reordering translation task and translates a test set greedily."
FAULT = "Greedy decoding feeds the whole prefix through the decoder from the initial state at every step, so the work grows with the square of the length."
CURE = "Feed only the last token and carry the decoder's state from step to step."
KIND = "time"
FAULT_LINES = ["logits, _ = model.decode(ys, state, memory, pad)", "ys = torch.cat([ys, nxt], dim=1)"]
FAULT_CALLS = ["translate", "decode", "lstm", "linear", "addmm", "bmm", "mkldnn_rnn_layer"]
FAULTY = r'''
import random
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(17)
random.seed(17)

PAD, BOS, EOS = 0, 1, 2
SRC_V, TGT_V = 400, 400
lexicon = list(range(3, TGT_V))
random.shuffle(lexicon)


def translate_rule(src):
    """Word-by-word lexicon with local swaps, as in adjective-noun order."""
    out = [lexicon[w - 3] for w in src]
    for i in range(0, len(out) - 1, 2):
        if src[i] % 3 == 0:
            out[i], out[i + 1] = out[i + 1], out[i]
    return out


def sentence():
    return [3 + int((SRC_V - 3) * random.random() ** 2) for _ in range(random.randint(20, 28))]


def to_batch(rows):
    width = max(map(len, rows))
    return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])


def make_batches(n, batch_size):
    pairs = [(s, translate_rule(s)) for s in (sentence() for _ in range(n))]
    pairs.sort(key=lambda p: len(p[0]))
    chunks = [pairs[i:i + batch_size] for i in range(0, n, batch_size)]
    return [(to_batch([s + [EOS] for s, _ in c]), to_batch([[BOS] + t + [EOS] for _, t in c])) for c in chunks]


class Seq2Seq(nn.Module):
    def __init__(self, d=96, h=192):
        super().__init__()
        self.src_emb = nn.Embedding(SRC_V, d, padding_idx=PAD)
        self.tgt_emb = nn.Embedding(TGT_V, d, padding_idx=PAD)
        self.encoder = nn.LSTM(d, h // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(d, h, batch_first=True)
        self.mix = nn.Linear(2 * h, h)
        self.out = nn.Linear(h, TGT_V)

    def encode(self, src):
        memory, (h, c) = self.encoder(self.src_emb(src))
        join = lambda t: torch.cat([t[0], t[1]], dim=-1).unsqueeze(0)
        return memory, (join(h), join(c))

    def decode(self, ys, state, memory, pad):
        q, state = self.decoder(self.tgt_emb(ys), state)
        score = q @ memory.transpose(1, 2)
        attn = score.masked_fill(pad[:, None], -1e9).softmax(-1)
        mixed = torch.tanh(self.mix(torch.cat([q, attn @ memory], dim=-1)))
        return self.out(mixed), state

    def forward(self, src, tgt_in):
        memory, state = self.encode(src)
        return self.decode(tgt_in, state, memory, src == PAD)[0]


@torch.no_grad()
def translate(model, src, max_len=32):
    model.eval()
    memory, state = model.encode(src)
    pad = src == PAD
    ys = torch.full((len(src), 1), BOS)
    finished = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(ys, state, memory, pad)
        nxt = logits[:, -1].argmax(-1, keepdim=True)
        ys = torch.cat([ys, nxt], dim=1)
        finished |= nxt.squeeze(1) == EOS
        if finished.all():
            break
    return ys[:, 1:]


train, test = make_batches(1280, 32), make_batches(512, 32)
model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)

for epoch in range(2):
    model.train()
    random.shuffle(train)
    total = 0.0
    for src, tgt in train:
        logits = model(src, tgt[:, :-1])
        loss = loss_fn(logits.flatten(0, 1), tgt[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(train):.3f}")

hits = words = 0
for src, tgt in test:
    hyp, ref = translate(model, src), tgt[:, 1:]
    n = min(hyp.shape[1], ref.shape[1])
    hits += ((hyp[:, :n] == ref[:, :n]) & (ref[:, :n] != PAD)).sum().item()
    words += (ref != PAD).sum().item()
print(f"word accuracy {hits / words:.3f} over {words} words")
print("sample:", hyp[0, :10].tolist(), "|", ref[0, :10].tolist())
'''
CURED = FAULTY.replace("logits, _ = model.decode(ys, state, memory, pad)", "logits, state = model.decode(ys[:, -1:], state, memory, pad)")
