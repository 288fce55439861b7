NAME = "A GRU recommender for shop sessions predicts the next item with a cosine softmax over the whole catalogue."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The whole item table is normalised anew in every training step and its gradient is dense; the table is the tied output layer of a full softmax and changes with every step, so both are needed (in evaluation it is normalised once). The deep copy of the best weights each epoch is small and used at the end, and padding goes to the length of the batch's longest session only."
GOOD = r'''
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(31)
rng = np.random.default_rng(31)

N_ITEMS, N_TOPICS = 1500, 40
topic_of = rng.integers(0, N_TOPICS, size=N_ITEMS)
by_topic = [np.flatnonzero(topic_of == t) for t in range(N_TOPICS)]
next_topic = rng.permutation(N_TOPICS)


def session():
    t = rng.integers(N_TOPICS)
    items = []
    for _ in range(int(rng.integers(4, 16))):
        pool = by_topic[t]
        rank = min(int(rng.geometric(0.12)) - 1, len(pool) - 1)
        items.append(int(pool[rank]) + 1)          # 0 is padding
        if rng.random() < 0.25:
            t = next_topic[t]
    return torch.tensor(items)


sessions = [session() for _ in range(4200)]
train, valid, test = sessions[:3200], sessions[3200:3700], sessions[3700:]


class SessionRec(nn.Module):
    def __init__(self, n_items, d=64, hidden=96, scale=12.0):
        super().__init__()
        self.items = nn.Embedding(n_items + 1, d, padding_idx=0)
        self.gru = nn.GRU(d, hidden, batch_first=True)
        self.proj = nn.Linear(hidden, d)
        self.drop = nn.Dropout(0.1)
        self.scale = scale

    def table(self):
        return F.normalize(self.items.weight[1:], dim=1)

    def states(self, seq):
        h, _ = self.gru(self.drop(self.items(seq)))
        return F.normalize(self.proj(h), dim=-1)

    def forward(self, seq, keep):
        return self.scale * self.states(seq)[keep] @ self.table().T


def batches(data, size, shuffle):
    """sessions of like length together, batches in random order"""
    order = sorted(range(len(data)), key=lambda i: len(data[i]) + (rng.random() if shuffle else 0))
    chunks = [order[i:i + size] for i in range(0, len(order), size)]
    if shuffle:
        rng.shuffle(chunks := [tuple(c) for c in chunks])
    for c in chunks:
        seq = pad_sequence([data[i] for i in c], batch_first=True)
        yield seq[:, :-1], seq[:, 1:]


@torch.no_grad()
def evaluate(model, data, k=20):
    model.eval()
    table = model.table()
    hits = mrr = n = 0
    for x, y in batches(data, 250, shuffle=False):
        keep = y > 0
        score = model.states(x)[keep] @ table.T
        target = y[keep] - 1
        top = score.topk(k, dim=1).indices
        pos = (top == target[:, None]).nonzero()[:, 1]
        hits += len(pos)
        mrr += (1.0 / (pos + 1)).sum().item()
        n += len(target)
    return hits / n, mrr / n


model = SessionRec(N_ITEMS)
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
best, best_state, bad = -1.0, None, 0
for epoch in range(8):
    model.train()
    tot = n = 0
    for x, y in batches(train, 64, shuffle=True):
        keep = y > 0
        target = y[keep] - 1
        loss = F.cross_entropy(model(x, keep), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(target)
        n += len(target)
    recall, mrr = evaluate(model, valid)
    print(f"epoch {epoch}: loss {tot / n:.3f} recall@20 {recall:.3f} mrr {mrr:.3f}")
    if mrr > best:
        best, best_state, bad = mrr, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad == 2:
            break

model.load_state_dict(best_state)
print("test recall@20 {:.3f} mrr {:.3f}".format(*evaluate(model, test)))
'''
