NAME = "Classifies support tickets by topic with a small Transformer encoder over token ids."
FAULT = "All tickets are padded to 256 tokens, so the encoder works mostly on padding although tickets have around 40 tokens."
CURE = "Cut each batch to the length of its longest ticket (results do not change because padding is masked)."
KIND = "time"
FAULT_LINES = [
    "xb, yb = tokens[idx], topics[idx]",
    "tokens = torch.zeros(len(texts), MAX_LEN, dtype=torch.long)",
    "logits = model(xb)",
    "preds.append(model(tokens[idx]).argmax(1))",
    "MAX_LEN = 256",
]
FAULT_CALLS = ["linear", "addmm", "mm", "scaled_dot_product_attention", "bmm", "layer_norm", "forward", "TransformerEncoder", "backward", "multi_head_attention_forward", "baddbmm", "softmax"]
FAULTY = r'''
from collections import Counter
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

TOPICS = ["billing", "shipping", "login", "refund", "bug"]
MAX_LEN = 256
VOCAB = 3000


def fake_ticket(topic):
    n = int(np.clip(rng.lognormal(3.6, 0.55), 5, MAX_LEN))
    common = rng.zipf(1.3, size=n) % 2000
    special = 2000 + topic * 150 + rng.integers(0, 400, size=n)
    use = rng.random(n) < 0.35
    return " ".join(f"w{w}" for w in np.where(use, special, common))


labels = rng.integers(0, len(TOPICS), size=850)
texts = [fake_ticket(t) for t in labels]

counts = Counter(w for t in texts for w in t.split())
vocab = {w: i + 2 for i, (w, _) in enumerate(counts.most_common(VOCAB - 2))}
tokens = torch.zeros(len(texts), MAX_LEN, dtype=torch.long)
for row, text in enumerate(texts):
    ids = [vocab.get(w, 1) for w in text.split()][:MAX_LEN]
    tokens[row, :len(ids)] = torch.tensor(ids)
topics = torch.from_numpy(labels)


class TicketEncoder(nn.Module):
    def __init__(self, d=64, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d, padding_idx=0)
        self.pos = nn.Embedding(MAX_LEN, d)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(d, len(TOPICS))

    def forward(self, x):
        pad = x == 0
        h = self.tok(x) + self.pos(torch.arange(x.size(1)))
        h = self.body(h, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.out(pooled)


n_train = 700
model = TicketEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(3):
    model.train()
    seen, loss_sum = 0, 0.0
    for idx in torch.randperm(n_train).split(16):
        xb, yb = tokens[idx], topics[idx]
        logits = model(xb)
        loss = loss_fn(logits, yb)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        loss_sum += loss.item() * len(idx)
        seen += len(idx)

    model.eval()
    preds = []
    with torch.no_grad():
        for idx in torch.arange(n_train, len(texts)).split(16):
            preds.append(model(tokens[idx]).argmax(1))
    acc = (torch.cat(preds) == topics[n_train:]).float().mean().item()
    print(f"epoch {epoch}: loss {loss_sum / seen:.3f}  held-out accuracy {acc:.3f}")

print("topics:", dict(zip(TOPICS, np.bincount(labels).tolist())))
'''
CURED = (FAULTY
    .replace("topics = torch.from_numpy(labels)\n", "topics = torch.from_numpy(labels)\nlengths = (tokens != 0).sum(1)\n")
    .replace("xb, yb = tokens[idx], topics[idx]", "xb, yb = tokens[idx, :lengths[idx].max()], topics[idx]")
    .replace("model(tokens[idx])", "model(tokens[idx, :lengths[idx].max()])"))
