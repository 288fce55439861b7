NAME = 'h19_ticket_router'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = ".item() on the loss, the gradient norm and the accuracy in each step, a progress line per few steps, zero_grad by hand and padding per batch: on CPU .item() waits for nothing, clip_grad_norm_ returns the norm anyway, batches are length-sorted and padded only to their longest text; the encoder's matmuls take nearly all time."
GOOD = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

torch.set_num_threads(1)
torch.manual_seed(13)
random.seed(13)

# support tickets: topic words mixed into common words, very unequal lengths
TOPICS = ['billing', 'login', 'delivery', 'refund', 'bug']
VOCAB = 4000

def make_ticket(topic):
    n = min(160, max(8, int(random.lognormvariate(3.4, 0.6))))
    words = []
    for _ in range(n):
        if random.random() < 0.25:
            words.append(3000 + topic * 200 + int(200 * random.random() ** 2))
        else:
            words.append(2 + int(2990 * random.random() ** 3))
    return torch.tensor(words)

labels = [random.randrange(len(TOPICS)) for _ in range(1600)]
tickets = [make_ticket(t) for t in labels]
train, test = list(range(1300)), list(range(1300, 1600))

def bucketed(ids, batch_size, shuffle):
    ids = list(ids)
    if shuffle:
        random.shuffle(ids)
    ids = sorted(ids, key=lambda i: len(tickets[i]) // 8)
    groups = [ids[k:k + batch_size] for k in range(0, len(ids), batch_size)]
    if shuffle:
        random.shuffle(groups)
    for g in groups:
        x = pad_sequence([tickets[i] for i in g], batch_first=True)
        yield x, torch.tensor([labels[i] for i in g])

class Router(nn.Module):
    def __init__(self, dim=128, heads=4, layers=2):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.pos = nn.Parameter(0.02 * torch.randn(160, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 256, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(dim, len(TOPICS))

    def forward(self, x):
        pad = x == 0
        h = self.enc(self.emb(x) + self.pos[:x.shape[1]], src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.out((h * keep).sum(1) / keep.sum(1))

model = Router()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
history = {'loss': [], 'acc': [], 'gnorm': []}

step = 0
for epoch in range(3):
    model.train()
    for x, y in bucketed(train, 32, shuffle=True):
        opt.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y, label_smoothing=0.05)
        loss.backward()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        history['loss'].append(loss.item())
        history['acc'].append((logits.argmax(1) == y).float().mean().item())
        history['gnorm'].append(gnorm.item())
        step += 1
        if step % 20 == 0:
            print(f"step {step:4d} loss {history['loss'][-1]:.3f} "
                  f"acc {sum(history['acc'][-20:]) / 20:.3f} |g| {history['gnorm'][-1]:.2f}")

model.eval()
hit = torch.zeros(len(TOPICS))
tot = torch.zeros(len(TOPICS))
with torch.no_grad():
    for x, y in bucketed(test, 64, shuffle=False):
        ok = (model(x).argmax(1) == y).float()
        hit.index_add_(0, y, ok)
        tot.index_add_(0, y, torch.ones(len(y)))
for name, h, t in zip(TOPICS, hit.tolist(), tot.tolist()):
    print(f"{name:9s} recall {h / t:.3f} ({int(t)})")
'''
