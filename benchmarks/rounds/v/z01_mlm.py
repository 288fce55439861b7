NAME = "Pretrains a small masked-language model on made-up text and reports loss and masked-token accuracy."
FAULT = "The vocabulary head (and its softmax/cross entropy) runs on every position although only the 15% masked positions count in the loss."
CURE = "Select the masked positions of the hidden states before the head, and compute loss and accuracy on these."
KIND = "time"
FAULT_LINES = ["return F.linear(self.transform(hidden), self.tok.weight, self.bias)", "logits = model.predict(hidden)",
               "loss = F.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1), ignore_index=IGNORE)", "hidden = model.encode(inputs)"]
FAULT_CALLS = ["predict", "linear", "cross_entropy", "log_softmax", "addmm", "matmul", "mm", "backward", "argmax"]
_T = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

VOCAB, SEQ, BATCH, DIM = 8000, 64, 16, 128
MASK_ID, IGNORE = 1, -100
STEPS = 45


def make_corpus(n_docs, length):
    ranks = torch.arange(2, VOCAB, dtype=torch.float)
    zipf = 1.0 / ranks
    base = torch.multinomial(zipf, n_docs * length, replacement=True) + 2
    base = base.view(n_docs, length)
    follow = torch.randperm(VOCAB - 2) + 2
    for t in range(1, length, 2):
        base[:, t] = follow[base[:, t - 1] - 2]
    return base


def mask_tokens(tokens, gen):
    labels = tokens.clone()
    chosen = torch.rand(tokens.shape, generator=gen) < 0.15
    labels[~chosen] = IGNORE
    inputs = tokens.clone()
    dice = torch.rand(tokens.shape, generator=gen)
    inputs[chosen & (dice < 0.8)] = MASK_ID
    swap = chosen & (dice >= 0.9)
    inputs[swap] = torch.randint(2, VOCAB, (int(swap.sum()),), generator=gen)
    return inputs, labels


class MaskedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        nn.init.normal_(self.tok.weight, std=0.02)
        self.pos = nn.Parameter(torch.randn(SEQ, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, 4, 4 * DIM, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.transform = nn.Sequential(nn.Linear(DIM, DIM), nn.GELU(), nn.LayerNorm(DIM))
        self.bias = nn.Parameter(torch.zeros(VOCAB))

    def encode(self, inputs):
        return self.encoder(self.tok(inputs) + self.pos)

    def predict(self, hidden):
        return F.linear(self.transform(hidden), self.tok.weight, self.bias)


corpus = make_corpus(2000, SEQ)
gen = torch.Generator().manual_seed(5)
model = MaskedLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 10))

history = []
for step in range(STEPS):
    rows = torch.randint(0, len(corpus), (BATCH,), generator=gen)
    inputs, labels = mask_tokens(corpus[rows], gen)
@@D@@
    logits = model.predict(hidden)
@@B@@
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    warmup.step()
    history.append(loss.item())

model.eval()
hits = total = 0
with torch.no_grad():
    for start in range(0, 160, BATCH):
        inputs, labels = mask_tokens(corpus[start:start + BATCH], gen)
        keep = labels != IGNORE
@@E@@
        logits = model.predict(hidden)
@@C@@
        total += int(keep.sum())

print(f"first loss {history[0]:.3f}  last loss {history[-1]:.3f}")
print(f"perplexity {math.exp(history[-1]):.0f}")
print(f"masked accuracy {hits / total:.3f} on {total} tokens")
'''
FAULTY = _T.replace("@@D@@", "    hidden = model.encode(inputs)").replace("@@E@@", "        hidden = model.encode(inputs)").replace("@@B@@", "    loss = F.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1), ignore_index=IGNORE)").replace("@@C@@", "        hits += int((logits.argmax(-1) == labels)[keep].sum())")
CURED = _T.replace("@@D@@", "    hidden = model.encode(inputs)[labels != IGNORE]").replace("@@E@@", "        hidden = model.encode(inputs)[keep]").replace("@@B@@", "    loss = F.cross_entropy(logits, labels[labels != IGNORE])").replace("@@C@@", "        hits += int((logits.argmax(-1) == labels[keep]).sum())")
