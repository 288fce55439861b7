NAME = 'Embeds 7000 support tickets of very different length with a transformer and classifies them by nearest centre.'
FAULT = 'The tickets are batched in the order of arrival, so that each batch is padded to its longest outlier (a pasted log file) and most positions are padding.'
CURE = 'Batch in the order of length (order = np.argsort of the lengths); the results are written back by index already.'
KIND = 'time'
FAULT_LINES = ['order = np.arange(len(tickets))', 'rows = order[s:s + batch_size]', 'out[rows] = model(*pad_batch([tickets[r] for r in rows]))', 'ids = torch.zeros(len(rows), int(lens.max()), dtype=torch.long)']
FAULT_CALLS = ['embed', 'pad_batch', 'forward', 'linear', 'scaled_dot_product_attention', 'gelu']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(3)
VOCAB, DIM, MAX_TOKENS = 4000, 96, 320


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        return self.proj(a.transpose(1, 2).reshape(B, T, D))


class TicketEncoder(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.att = nn.ModuleList(Attention(DIM) for _ in range(depth))
        self.ff = nn.ModuleList(nn.Sequential(nn.Linear(DIM, 3 * DIM), nn.GELU(), nn.Linear(3 * DIM, DIM)) for _ in range(depth))
        self.norm = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(2 * depth))

    def forward(self, ids, keep):
        h = self.emb(ids)
        for i, (att, ff) in enumerate(zip(self.att, self.ff)):
            h = h + att(self.norm[2 * i](h), keep)
            h = h + ff(self.norm[2 * i + 1](h))
        w = keep.unsqueeze(-1).float()
        return (h * w).sum(1) / w.sum(1)


def support_tickets(n, rng):
    '''Mostly two-line messages, now and then a pasted log file.'''
    lengths = np.clip(rng.lognormal(3.2, 0.75, n), 5, MAX_TOKENS).astype(int)
    topic = rng.integers(0, 8, n)
    return [rng.integers(1 + 400 * t, 401 + 400 * t, m) for m, t in zip(lengths, topic)], topic


def pad_batch(rows):
    lens = torch.tensor([len(r) for r in rows])
    ids = torch.zeros(len(rows), int(lens.max()), dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = torch.from_numpy(r)
    return ids, torch.arange(ids.shape[1])[None] < lens[:, None]


@torch.inference_mode()
def embed(model, tickets, batch_size=64):
    model.eval()
    out = torch.empty(len(tickets), DIM)
    order = np.arange(len(tickets))
    for s in range(0, len(order), batch_size):
        rows = order[s:s + batch_size]
        out[rows] = model(*pad_batch([tickets[r] for r in rows]))
    return out


rng = np.random.default_rng(3)
tickets, topic = support_tickets(7000, rng)
vectors = embed(TicketEncoder(), tickets)
vectors = nn.functional.normalize(vectors - vectors.mean(0), dim=1)
topic = torch.from_numpy(topic)
centres = torch.stack([vectors[:6000][topic[:6000] == k].mean(0) for k in range(8)])
guess = (vectors[6000:] @ centres.T).argmax(1)
print(f"vectors {tuple(vectors.shape)} spread {vectors.std():.4f}")
print(f"nearest-centre accuracy {(guess == topic[6000:]).float().mean():.3f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(3)
VOCAB, DIM, MAX_TOKENS = 4000, 96, 320


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, keep):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        return self.proj(a.transpose(1, 2).reshape(B, T, D))


class TicketEncoder(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.att = nn.ModuleList(Attention(DIM) for _ in range(depth))
        self.ff = nn.ModuleList(nn.Sequential(nn.Linear(DIM, 3 * DIM), nn.GELU(), nn.Linear(3 * DIM, DIM)) for _ in range(depth))
        self.norm = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(2 * depth))

    def forward(self, ids, keep):
        h = self.emb(ids)
        for i, (att, ff) in enumerate(zip(self.att, self.ff)):
            h = h + att(self.norm[2 * i](h), keep)
            h = h + ff(self.norm[2 * i + 1](h))
        w = keep.unsqueeze(-1).float()
        return (h * w).sum(1) / w.sum(1)


def support_tickets(n, rng):
    '''Mostly two-line messages, now and then a pasted log file.'''
    lengths = np.clip(rng.lognormal(3.2, 0.75, n), 5, MAX_TOKENS).astype(int)
    topic = rng.integers(0, 8, n)
    return [rng.integers(1 + 400 * t, 401 + 400 * t, m) for m, t in zip(lengths, topic)], topic


def pad_batch(rows):
    lens = torch.tensor([len(r) for r in rows])
    ids = torch.zeros(len(rows), int(lens.max()), dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = torch.from_numpy(r)
    return ids, torch.arange(ids.shape[1])[None] < lens[:, None]


@torch.inference_mode()
def embed(model, tickets, batch_size=64):
    model.eval()
    out = torch.empty(len(tickets), DIM)
    order = np.argsort([len(t) for t in tickets], kind="stable")
    for s in range(0, len(order), batch_size):
        rows = order[s:s + batch_size]
        out[rows] = model(*pad_batch([tickets[r] for r in rows]))
    return out


rng = np.random.default_rng(3)
tickets, topic = support_tickets(7000, rng)
vectors = embed(TicketEncoder(), tickets)
vectors = nn.functional.normalize(vectors - vectors.mean(0), dim=1)
topic = torch.from_numpy(topic)
centres = torch.stack([vectors[:6000][topic[:6000] == k].mean(0) for k in range(8)])
guess = (vectors[6000:] @ centres.T).argmax(1)
print(f"vectors {tuple(vectors.shape)} spread {vectors.std():.4f}")
print(f"nearest-centre accuracy {(guess == topic[6000:]).float().mean():.3f}")
"""
