NAME = 'Serves requests to a text classifier that routes support tickets, in batches as they arrive.'
FAULT = 'Every batch is padded to the longest length allowed (256) though most tickets have about 30 words.'
CURE = 'Pad a batch only to its own longest ticket.'
KIND = 'time'
FAULT_LINES = [
    'ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)',
    'ids, mask = collate(batch)',
    'scores = model(ids, mask)',
    'x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :]).transpose(1, 2).flatten(2))',
    'x = x + self.ff(self.n2(x))',
]
FAULT_CALLS = [
    'collate',
    'Router.forward',
    'Layer.forward',
    'torch.nn.functional.linear',
    'scaled_dot_product_attention',
    'aten::addmm',
    'gelu',
]

FAULTY = r"""
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)

VOCAB, MAX_LEN, DIM, QUEUES = 8000, 256, 128, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.q, self.k, self.v, self.out = (nn.Linear(DIM, DIM) for _ in range(4))
        self.ff = nn.Sequential(nn.Linear(DIM, 3 * DIM), nn.GELU(), nn.Linear(3 * DIM, DIM))

    def forward(self, x, mask):
        h = self.n1(x)
        q, k, v = (f(h).unflatten(-1, (4, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :]).transpose(1, 2).flatten(2))
        x = x + self.ff(self.n2(x))
        return x


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.pos = nn.Parameter(0.02 * torch.randn(MAX_LEN, DIM))
        self.layers = nn.ModuleList(Layer() for _ in range(3))
        self.cls = nn.Linear(DIM, QUEUES)

    def forward(self, ids, mask):
        x = self.emb(ids) + self.pos[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, mask)
        pooled = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return self.cls(pooled)


def collate(batch):
    ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    for row, words in zip(ids, batch):
        row[: len(words)] = torch.tensor(words[:MAX_LEN])
    return ids, ids != 0


# requests: a few long mails among short notes
lengths = torch.empty(1120).log_normal_(3.2, 0.45).clamp(4, MAX_LEN).long().tolist()
tickets = [torch.randint(1, VOCAB, (n,)).tolist() for n in lengths]

model = Router().eval()
queue_of, latency, margin = [], [], 0.0
with torch.inference_mode():
    for i in range(0, len(tickets), 16):
        start = time.perf_counter()
        batch = tickets[i:i + 16]
        ids, mask = collate(batch)
        scores = model(ids, mask)
        top = scores.topk(2, dim=1)
        queue_of += top.indices[:, 0].tolist()
        margin += (top.values[:, 0] - top.values[:, 1]).sum().item()
        latency.append(time.perf_counter() - start)

counts = torch.bincount(torch.tensor(queue_of), minlength=QUEUES)
print("tickets per queue", counts.tolist(), f"mean margin {margin / len(tickets):.4f}")
"""

CURED = r"""
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)

VOCAB, MAX_LEN, DIM, QUEUES = 8000, 256, 128, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.q, self.k, self.v, self.out = (nn.Linear(DIM, DIM) for _ in range(4))
        self.ff = nn.Sequential(nn.Linear(DIM, 3 * DIM), nn.GELU(), nn.Linear(3 * DIM, DIM))

    def forward(self, x, mask):
        h = self.n1(x)
        q, k, v = (f(h).unflatten(-1, (4, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :]).transpose(1, 2).flatten(2))
        x = x + self.ff(self.n2(x))
        return x


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.pos = nn.Parameter(0.02 * torch.randn(MAX_LEN, DIM))
        self.layers = nn.ModuleList(Layer() for _ in range(3))
        self.cls = nn.Linear(DIM, QUEUES)

    def forward(self, ids, mask):
        x = self.emb(ids) + self.pos[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, mask)
        pooled = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return self.cls(pooled)


def collate(batch):
    longest = min(MAX_LEN, max(len(words) for words in batch))
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, words in zip(ids, batch):
        row[: len(words)] = torch.tensor(words[:MAX_LEN])
    return ids, ids != 0


# requests: a few long mails among short notes
lengths = torch.empty(1120).log_normal_(3.2, 0.45).clamp(4, MAX_LEN).long().tolist()
tickets = [torch.randint(1, VOCAB, (n,)).tolist() for n in lengths]

model = Router().eval()
queue_of, latency, margin = [], [], 0.0
with torch.inference_mode():
    for i in range(0, len(tickets), 16):
        start = time.perf_counter()
        batch = tickets[i:i + 16]
        ids, mask = collate(batch)
        scores = model(ids, mask)
        top = scores.topk(2, dim=1)
        queue_of += top.indices[:, 0].tolist()
        margin += (top.values[:, 0] - top.values[:, 1]).sum().item()
        latency.append(time.perf_counter() - start)

counts = torch.bincount(torch.tensor(queue_of), minlength=QUEUES)
print("tickets per queue", counts.tolist(), f"mean margin {margin / len(tickets):.4f}")
"""
