NAME = "Trains a GRU language model with truncated backpropagation through time, keeps the best weights by validation, and reports perplexity."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "The deep copy of the state dict is needed to bring back the best weights (a plain reference would follow the later updates), it happens at most once per epoch and costs a few milliseconds; detaching the hidden state is needed for truncated backpropagation."
GOOD = r'''
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(27)

VOCAB, DIM, HIDDEN = 600, 96, 256
BATCH, BPTT, EPOCHS, PATIENCE = 32, 40, 8, 2


def make_text(n):
    successors = torch.randint(0, VOCAB, (VOCAB, 8))
    weights = torch.tensor([0.35, 0.2, 0.15, 0.1, 0.08, 0.06, 0.04, 0.02])
    picks = torch.multinomial(weights, n, replacement=True).tolist()
    jumps = (torch.rand(n) < 0.05).tolist()
    anywhere = torch.randint(0, VOCAB, (n,)).tolist()
    table = successors.tolist()
    out, word = [], 0
    for pick, jump, other in zip(picks, jumps, anywhere):
        word = other if jump else table[word][pick]
        out.append(word)
    return torch.tensor(out)


def batchify(stream):
    n = len(stream) // BATCH
    return stream[:n * BATCH].view(BATCH, n).t().contiguous()


def chunks(data):
    for start in range(0, len(data) - 1, BPTT):
        length = min(BPTT, len(data) - 1 - start)
        yield data[start:start + length], data[start + 1:start + 1 + length]


class WordGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.gru = nn.GRU(DIM, HIDDEN)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, tokens, hidden):
        h, hidden = self.gru(self.drop(self.emb(tokens)), hidden)
        return self.out(self.drop(h)), hidden


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    hidden, total, count = None, 0.0, 0
    for x, y in chunks(data):
        logits, hidden = model(x, hidden)
        total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        count += y.numel()
    return total / count


text = make_text(76_000)
train, valid, test = (batchify(s) for s in text.split([64_000, 6_000, 6_000]))
model = WordGRU()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
best_loss, best_state, bad = math.inf, None, 0

for epoch in range(EPOCHS):
    model.train()
    hidden, total, n = None, 0.0, 0
    for x, y in chunks(train):
        if hidden is not None:
            hidden = hidden.detach()
        logits, hidden = model(x, hidden)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
        n += 1
    val = evaluate(model, valid)
    print(f"epoch {epoch}: train {total / n:.3f}  valid {val:.3f}")
    if val < best_loss:
        best_loss, bad = val, 0
        best_state = copy.deepcopy(model.state_dict())
    else:
        bad += 1
        if bad >= PATIENCE:
            break

model.load_state_dict(best_state)
print(f"best valid {best_loss:.3f}  test perplexity {math.exp(evaluate(model, test)):.1f}")
'''
