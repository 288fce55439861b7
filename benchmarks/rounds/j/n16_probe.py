NAME = 'Embeds 4000 sequences with a fixed encoder and trains a linear probe on the summary vectors.'
FAULT = 'The kept summary vectors are views of the hidden states of all 160 positions, so all hidden states stay in memory until the end.'
CURE = 'Copy the summary vectors (clone, or into a prepared result) so that the hidden states of a batch can be freed.'
KIND = 'memory'
FAULT_LINES = [
    'return hidden[:, 0]',
    'parts = [summary(encoder, b) for b in seqs.split(batch)]',
]
FAULT_CALLS = ['summary', 'embed', 'encoder', 'layer_norm', 'norm']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
torch.set_num_threads(1)

# protein-like sequences, two families told apart by a motif
V, T, D, N = 24, 160, 192, 4000
seqs = torch.randint(3, V, (N, T))
fam = torch.randint(0, 2, (N,))
for i in range(N):
    for _ in range(6):
        p = int(torch.randint(1, T - 4, (1,)))
        seqs[i, p:p + 3] = torch.tensor([5, 9, 13]) if fam[i] else torch.tensor([5, 13, 9])
seqs[:, 0] = 1      # summary token


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Parameter(0.02 * torch.randn(T, D))
        self.mix = nn.Conv1d(D, D, 3, padding=1)
        self.q, self.kv = nn.Linear(D, D), nn.Linear(D, 2 * D)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))
        self.norm = nn.LayerNorm(D)

    def forward(self, x):
        h = self.tok(x) + self.pos
        h = h + F.gelu(self.mix(h.transpose(1, 2)).transpose(1, 2))
        k, v = self.kv(h).chunk(2, -1)
        split = lambda z: z.view(len(x), T, 4, -1).transpose(1, 2)
        a = F.scaled_dot_product_attention(split(self.q(h)), split(k), split(v))
        h = h + a.transpose(1, 2).reshape(len(x), T, D)
        return self.norm(h + self.ff(h))


def summary(encoder, batch):
    hidden = encoder(batch)
    return hidden[:, 0]


@torch.no_grad()
def embed(encoder, seqs, batch=64):
    encoder.eval()
    parts = [summary(encoder, b) for b in seqs.split(batch)]
    return torch.cat(parts)


encoder = Encoder()
emb = embed(encoder, seqs)
print("embeddings", tuple(emb.shape), "norm", round(emb.norm(dim=1).mean().item(), 4))

# linear probe on the fixed embeddings
emb = (emb - emb.mean(0)) / emb.std(0)
n_train = 3250
probe = nn.Linear(D, 2)
opt = torch.optim.Adam(probe.parameters(), lr=5e-3, weight_decay=1e-3)
for epoch in range(12):
    for idx in torch.randperm(n_train).split(130):
        loss = F.cross_entropy(probe(emb[idx]), fam[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            acc = (probe(emb[n_train:]).argmax(1) == fam[n_train:]).float().mean().item()
        print(f"probe epoch {epoch} loss {loss.item():.4f} held-out acc {acc:.3f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
torch.set_num_threads(1)

# protein-like sequences, two families told apart by a motif
V, T, D, N = 24, 160, 192, 4000
seqs = torch.randint(3, V, (N, T))
fam = torch.randint(0, 2, (N,))
for i in range(N):
    for _ in range(6):
        p = int(torch.randint(1, T - 4, (1,)))
        seqs[i, p:p + 3] = torch.tensor([5, 9, 13]) if fam[i] else torch.tensor([5, 13, 9])
seqs[:, 0] = 1      # summary token


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Parameter(0.02 * torch.randn(T, D))
        self.mix = nn.Conv1d(D, D, 3, padding=1)
        self.q, self.kv = nn.Linear(D, D), nn.Linear(D, 2 * D)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))
        self.norm = nn.LayerNorm(D)

    def forward(self, x):
        h = self.tok(x) + self.pos
        h = h + F.gelu(self.mix(h.transpose(1, 2)).transpose(1, 2))
        k, v = self.kv(h).chunk(2, -1)
        split = lambda z: z.view(len(x), T, 4, -1).transpose(1, 2)
        a = F.scaled_dot_product_attention(split(self.q(h)), split(k), split(v))
        h = h + a.transpose(1, 2).reshape(len(x), T, D)
        return self.norm(h + self.ff(h))


def summary(encoder, batch):
    hidden = encoder(batch)
    return hidden[:, 0]


@torch.no_grad()
def embed(encoder, seqs, batch=64):
    encoder.eval()
    out = torch.empty(len(seqs), D)
    for s in range(0, len(seqs), batch):
        out[s:s + batch] = summary(encoder, seqs[s:s + batch])
    return out


encoder = Encoder()
emb = embed(encoder, seqs)
print("embeddings", tuple(emb.shape), "norm", round(emb.norm(dim=1).mean().item(), 4))

# linear probe on the fixed embeddings
emb = (emb - emb.mean(0)) / emb.std(0)
n_train = 3250
probe = nn.Linear(D, 2)
opt = torch.optim.Adam(probe.parameters(), lr=5e-3, weight_decay=1e-3)
for epoch in range(12):
    for idx in torch.randperm(n_train).split(130):
        loss = F.cross_entropy(probe(emb[idx]), fam[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            acc = (probe(emb[n_train:]).argmax(1) == fam[n_train:]).float().mean().item()
        print(f"probe epoch {epoch} loss {loss.item():.4f} held-out acc {acc:.3f}")
"""
