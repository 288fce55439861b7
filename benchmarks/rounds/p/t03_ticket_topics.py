NAME = 'Trains a transformer that sorts support tickets by topic, with masked mean pooling.'
FAULT = 'Every batch is padded to the longest ticket of the whole set, about six times the usual length.'
CURE = 'Cut each batch to the longest ticket in it before the model sees it.'
KIND = 'time'
FAULT_LINES = [
    'max_len = max(len(t) for t in tickets)',
    'X = torch.zeros(len(tickets), max_len, dtype=torch.long)',
    'logits = model(X[idx])',
    'pred.append(model(X[idx]).argmax(1))',
]
FAULT_CALLS = ['forward', 'encoder', 'TransformerEncoder', 'model', 'linear', 'scaled_dot_product_attention', 'backward', 'zeros', 'max']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
rs = np.random.RandomState(5)

VOCAB, TOPICS, PAD = 4000, 6, 0
topic_words = rs.randint(1, VOCAB, size=(TOPICS, 80))


def write_ticket(topic):
    n = int(np.clip(rs.lognormal(3.4, 0.5), 8, 230))
    own = rs.choice(topic_words[topic], n)
    other = rs.randint(1, VOCAB, n)
    return np.where(rs.rand(n) < 0.35, own, other)


y = rs.randint(0, TOPICS, 700)
tickets = [write_ticket(t) for t in y]
tickets[123] = np.tile(tickets[123], 40)[:256]
y = torch.from_numpy(y)

max_len = max(len(t) for t in tickets)
X = torch.zeros(len(tickets), max_len, dtype=torch.long)
for i, t in enumerate(tickets):
    X[i, :len(t)] = torch.from_numpy(t)
train_idx, test_idx = torch.arange(560), torch.arange(560, 700)


class TopicModel(nn.Module):
    def __init__(self, d=64, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(512, d)
        layer = nn.TransformerEncoderLayer(d, heads, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, TOPICS)

    def forward(self, ids):
        mask = ids.eq(PAD)
        h = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        h = self.encoder(h, src_key_padding_mask=mask)
        keep = (~mask).unsqueeze(-1).float()
        return self.head((h * keep).sum(1) / keep.sum(1))


model = TopicModel()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    losses = []
    for idx in train_idx[torch.randperm(len(train_idx))].split(28):
        logits = model(X[idx])
        loss = F.cross_entropy(logits, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    pred = []
    with torch.no_grad():
        for idx in test_idx.split(28):
            pred.append(model(X[idx]).argmax(1))
    acc = (torch.cat(pred) == y[test_idx]).float().mean()
    print(f'epoch {epoch}  train loss {np.mean(losses):.3f}  test acc {acc:.2f}')
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
rs = np.random.RandomState(5)

VOCAB, TOPICS, PAD = 4000, 6, 0
topic_words = rs.randint(1, VOCAB, size=(TOPICS, 80))


def write_ticket(topic):
    n = int(np.clip(rs.lognormal(3.4, 0.5), 8, 230))
    own = rs.choice(topic_words[topic], n)
    other = rs.randint(1, VOCAB, n)
    return np.where(rs.rand(n) < 0.35, own, other)


y = rs.randint(0, TOPICS, 700)
tickets = [write_ticket(t) for t in y]
tickets[123] = np.tile(tickets[123], 40)[:256]
y = torch.from_numpy(y)

max_len = max(len(t) for t in tickets)
X = torch.zeros(len(tickets), max_len, dtype=torch.long)
for i, t in enumerate(tickets):
    X[i, :len(t)] = torch.from_numpy(t)
lengths = torch.tensor([len(t) for t in tickets])
train_idx, test_idx = torch.arange(560), torch.arange(560, 700)


class TopicModel(nn.Module):
    def __init__(self, d=64, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(512, d)
        layer = nn.TransformerEncoderLayer(d, heads, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d, TOPICS)

    def forward(self, ids):
        mask = ids.eq(PAD)
        h = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        h = self.encoder(h, src_key_padding_mask=mask)
        keep = (~mask).unsqueeze(-1).float()
        return self.head((h * keep).sum(1) / keep.sum(1))


model = TopicModel()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    losses = []
    for idx in train_idx[torch.randperm(len(train_idx))].split(28):
        logits = model(X[idx, :lengths[idx].max()])
        loss = F.cross_entropy(logits, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    pred = []
    with torch.no_grad():
        for idx in test_idx.split(28):
            pred.append(model(X[idx, :lengths[idx].max()]).argmax(1))
    acc = (torch.cat(pred) == y[test_idx]).float().mean()
    print(f'epoch {epoch}  train loss {np.mean(losses):.3f}  test acc {acc:.2f}')
"""
