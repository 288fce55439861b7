NAME = "Trains a small encoder-decoder Transformer on a synthetic translation task with sentences of varying length."
FAULT = "The collate function pads every batch to the corpus-wide maximum length although most sentences are short, so the model computes mostly on padding."
CURE = "Pad to the longest sentence of the batch."
KIND = "time"
FAULT_LINES = ["src = torch.full((len(pairs), MAX_LEN), PAD)", "tgt = torch.full((len(pairs), MAX_LEN + 1), PAD)"]
FAULT_CALLS = ["collate", "linear", "mm", "addmm", "bmm", "baddbmm", "scaled_dot_product_attention", "log_softmax", "cross_entropy"]
FAULTY = r'''
import math
import random
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(7)
random.seed(7)

PAD, BOS, EOS = 0, 1, 2
VOCAB, MAX_LEN, D = 300, 72, 64


def translate(words):
    # toy grammar: word-by-word dictionary, verbs (multiples of 7) go to the end
    verbs = [w for w in words if w % 7 == 0]
    rest = [w for w in words if w % 7]
    return [3 + (5 * w + 11) % (VOCAB - 3) for w in rest + verbs]


def make_corpus(n):
    corpus = []
    for _ in range(n):
        length = min(MAX_LEN - 1, max(3, int(random.lognormvariate(2.4, 0.55))))
        words = [random.randrange(3, VOCAB) for _ in range(length)]
        corpus.append((words + [EOS], [BOS] + translate(words) + [EOS]))
    return corpus


def collate(pairs):
    src = torch.full((len(pairs), MAX_LEN), PAD)
    tgt = torch.full((len(pairs), MAX_LEN + 1), PAD)
    for i, (s, t) in enumerate(pairs):
        src[i, :len(s)] = torch.tensor(s)
        tgt[i, :len(t)] = torch.tensor(t)
    return src, tgt


class Translator(nn.Module):
    def __init__(self, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, D, padding_idx=PAD)
        self.pos = nn.Embedding(MAX_LEN + 1, D)
        enc = nn.TransformerEncoderLayer(D, heads, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
        dec = nn.TransformerDecoderLayer(D, heads, 4 * D, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(enc, layers, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(dec, layers)
        self.out = nn.Linear(D, VOCAB)
        nn.init.normal_(self.tok.weight, std=D ** -0.5)
        nn.init.normal_(self.pos.weight, std=0.1)

    def embed(self, ids):
        return self.tok(ids) * math.sqrt(D) + self.pos(torch.arange(ids.size(1)))

    def forward(self, src, tgt):
        pad = src == PAD
        memory = self.encoder(self.embed(src), src_key_padding_mask=pad)
        n = tgt.size(1)
        causal = torch.ones(n, n, dtype=torch.bool).triu(1)
        h = self.decoder(self.embed(tgt), memory, tgt_mask=causal, memory_key_padding_mask=pad)
        return self.out(h)


corpus = make_corpus(1900)
g = torch.Generator().manual_seed(1)
train_loader = DataLoader(corpus[:1600], batch_size=32, shuffle=True, collate_fn=collate, generator=g)
dev_loader = DataLoader(corpus[1600:], batch_size=64, collate_fn=collate)

model = Translator()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optim = torch.optim.Adam(model.parameters(), lr=1e-3)
print("parameters:", sum(p.numel() for p in model.parameters()))

for epoch in range(2):
    model.train()
    total = 0.0
    for src, tgt in train_loader:
        logits = model(src, tgt[:, :-1])
        loss = criterion(logits.reshape(-1, VOCAB), tgt[:, 1:].reshape(-1))
        optim.zero_grad(set_to_none=True)
        loss.backward()
        optim.step()
        total += loss.item()
    model.eval()
    right = words = 0
    with torch.no_grad():
        for src, tgt in dev_loader:
            gold = tgt[:, 1:]
            guess = model(src, tgt[:, :-1]).argmax(-1)
            keep = gold != PAD
            right += (guess[keep] == gold[keep]).sum().item()
            words += keep.sum().item()
    print(f"epoch {epoch + 1}  train loss {total / len(train_loader):.2f}  dev token accuracy {right / words:.2f}")
'''
CURED = FAULTY.replace("src = torch.full((len(pairs), MAX_LEN), PAD)",
    "src = torch.full((len(pairs), max(len(s) for s, _ in pairs)), PAD)").replace(
    "tgt = torch.full((len(pairs), MAX_LEN + 1), PAD)", "tgt = torch.full((len(pairs), max(len(t) for _, t in pairs)), PAD)")
