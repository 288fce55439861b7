NAME = "Trains a small self-attentive sequence recommender with a content tower for items and tracks hit rate after each epoch."
FAULT = "During evaluation the whole catalogue is run through the item tower again for every batch of users, although the weights do not change between the batches."
CURE = "Encode the catalogue once before the evaluation loop."
KIND = "time"
FAULT_LINES = ["scores = model.score_all(hist, content)", "return self.user(hist) @ self.item(content).T", "def score_all(self, hist, content):", "def item(self, feats):"]
FAULT_CALLS = ["item", "score_all", "hit_rate", "linear", "addmm", "gelu", "layer_norm"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

N_ITEMS, N_USERS, T, FEAT, DIM = 5000, 2400, 20, 96, 64


def make_sessions():
    topics = torch.randn(40, FEAT)
    item_topic = torch.randint(0, 40, (N_ITEMS,))
    content = topics[item_topic] + 0.7 * torch.randn(N_ITEMS, FEAT)
    order = item_topic.argsort()
    start = torch.searchsorted(item_topic[order], torch.arange(40))
    size = torch.bincount(item_topic, minlength=40)
    cur = torch.randint(0, 40, (N_USERS,))
    rows = []
    for _ in range(T + 2):
        jump = torch.rand(N_USERS) < 0.15
        cur = torch.where(jump, (cur + 1) % 40, cur)
        rows.append(order[start[cur] + (torch.rand(N_USERS) * size[cur]).long()])
    return content, torch.stack(rows, 1)


class SeqRec(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(FEAT, 384), nn.GELU(), nn.LayerNorm(384), nn.Linear(384, DIM))
        self.hist = nn.Embedding(N_ITEMS, DIM, sparse=False)
        self.pos = nn.Parameter(0.02 * torch.randn(T, DIM))
        layer = nn.TransformerEncoderLayer(DIM, 4, 128, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.register_buffer("mask", torch.triu(torch.full((T, T), float("-inf")), 1))

    def item(self, feats):
        return F.normalize(self.tower(feats), dim=-1)

    def user(self, hist):
        z = self.enc(self.hist(hist) + self.pos, mask=self.mask)
        return F.normalize(z[:, -1], dim=-1)

    def score_all(self, hist, content):
        return self.user(hist) @ self.item(content).T


def hit_rate(model, hists, targets, content, k=50, bs=64):
    model.eval()
    hits = 0
    with torch.no_grad():
        for a in range(0, len(hists), bs):
            hist, y = hists[a:a + bs], targets[a:a + bs]
            scores = model.score_all(hist, content)
            scores.scatter_(1, hist, -1e9)
            top = scores.topk(k, dim=1).indices
            hits += (top == y[:, None]).any(1).sum().item()
    return hits / len(hists)


content, seqs = make_sessions()
train_hist, train_y = seqs[:, :T], seqs[:, T]
val_hist, val_y = seqs[:, 1:T + 1], seqs[:, T + 1]

model = SeqRec()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
BS = 128
for epoch in range(4):
    model.train()
    perm = torch.randperm(N_USERS)
    running = 0.0
    for a in range(0, N_USERS, BS):
        idx = perm[a:a + BS]
        u = model.user(train_hist[idx])
        v = model.item(content[train_y[idx]])
        logits = u @ v.T / 0.07
        loss = F.cross_entropy(logits, torch.arange(len(idx)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    hr = hit_rate(model, val_hist, val_y, content)
    print(f"epoch {epoch}  loss {running / N_USERS:.4f}  HR@50 {hr:.4f}")
'''
CURED = FAULTY.replace(
    "        for a in range(0, len(hists), bs):\n            hist, y",
    "        items = model.item(content).T\n        for a in range(0, len(hists), bs):\n            hist, y",
).replace("scores = model.score_all(hist, content)", "scores = model.user(hist) @ items")
