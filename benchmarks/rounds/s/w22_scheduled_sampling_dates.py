NAME = 'Trains an attention sequence-to-sequence model that rewrites dates, with scheduled sampling.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The Python loop over the output steps with an LSTM cell is needed, as the next input depends on the token just predicted; the projection of the encoder states is outside the loop.'

GOOD = r'''import datetime
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)

FORMATS = ["%d %B %Y", "%B %d, %Y", "%d.%m.%y", "%A %d %b %Y", "%m/%d/%Y"]


def make_pair():
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=random.randrange(22_000))
    return day.strftime(random.choice(FORMATS)).lower(), "^" + day.isoformat()


pairs = [make_pair() for _ in range(9000)]
symbols = ["_"] + sorted({ch for a, b in pairs for ch in a + b})
index = {ch: i for i, ch in enumerate(symbols)}
longest = max(len(a) for a, _ in pairs)
source = torch.tensor([[index[c] for c in a.ljust(longest, "_")] for a, _ in pairs])
target = torch.tensor([[index[c] for c in b] for _, b in pairs])
N_TRAIN = 8000


class Rewriter(nn.Module):
    def __init__(self, vocab, emb=32, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.encoder = nn.GRU(emb, hidden // 2, batch_first=True, bidirectional=True)
        self.key = nn.Linear(hidden, hidden)
        self.cell = nn.LSTMCell(emb + hidden, hidden)
        self.out = nn.Linear(2 * hidden, vocab)
        self.hidden = hidden

    def forward(self, src, tgt, forcing):
        memory, _ = self.encoder(self.emb(src))
        keys = self.key(memory)
        blocked = (src == 0).unsqueeze(1)
        h = memory.new_zeros(len(src), self.hidden)
        c, context = torch.zeros_like(h), torch.zeros_like(h)
        token = tgt[:, 0]
        logits = []
        for t in range(1, tgt.shape[1]):
            h, c = self.cell(torch.cat([self.emb(token), context], dim=1), (h, c))
            scores = torch.bmm(h.unsqueeze(1), keys.transpose(1, 2))
            weights = scores.masked_fill(blocked, -1e9).softmax(dim=2)
            context = torch.bmm(weights, memory).squeeze(1)
            step = self.out(torch.cat([h, context], dim=1))
            logits.append(step)
            use_truth = torch.rand(len(src)) < forcing
            token = torch.where(use_truth, tgt[:, t], step.detach().argmax(dim=1))
        return torch.stack(logits, dim=1)


model = Rewriter(len(symbols))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


@torch.no_grad()
def exact_match(src, tgt):
    model.eval()
    hits = 0
    for s, t in zip(src.split(250), tgt.split(250)):
        hits += (model(s, t, forcing=0.0).argmax(2) == t[:, 1:]).all(dim=1).sum().item()
    return hits / len(src)


EPOCHS = 4
for epoch in range(EPOCHS):
    model.train()
    forcing = 1.0 - 0.5 * epoch / (EPOCHS - 1)
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(80):
        logits = model(source[idx], target[idx], forcing)
        loss = F.cross_entropy(logits.flatten(0, 1), target[idx, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(idx)
    match = exact_match(source[N_TRAIN:], target[N_TRAIN:])
    print(f"epoch {epoch} forcing {forcing:.2f} loss {total / N_TRAIN:.3f} exact {match:.3f}")
'''
