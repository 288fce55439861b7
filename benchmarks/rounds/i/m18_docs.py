NAME = 'Embeds a corpus with a small transformer encoder and finds nearest documents.'
FAULT = 'The first-token embedding kept per batch is a view h[:, 0] of the full (batch, tokens, dim) output, so the complete hidden states of every batch stay in memory until the end.'
CURE = 'Copy the first-token rows out (into a table made beforehand, or with .clone()) so that the full output can be freed.'
KIND = 'memory'
FAULT_LINES = [
    'vectors.append(h[:, 0])',
    'h = encoder(ids)',
]
FAULT_CALLS = [
    'forward',
    'embed_corpus',
    'append',
    'layer_norm',
    '_transformer_encoder_layer_fwd',
    '__getitem__',
    'linear',
    'encoder',
]
FAULTY = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(23)


class Encoder(nn.Module):
    def __init__(self, vocab=8000, dim=192, seq=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.1 * torch.randn(seq, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 4, 256, dropout=0.0, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        return self.norm(self.layer(self.emb(ids) + self.pos))


@torch.no_grad()
def embed_corpus(encoder, docs, batch_size=64):
    encoder.eval()
    vectors = []
    for k, ids in enumerate(docs.split(batch_size)):
        h = encoder(ids)
        vectors.append(h[:, 0])
        if k % 20 == 0:
            print(f"{k * batch_size:5d} / {len(docs)} documents")
    return nn.functional.normalize(torch.cat(vectors), dim=1)


# corpus: each document copies a third of its tokens from another one
docs = torch.randint(0, 8000, (7168, 128))
src = torch.randint(0, 7168, (7168,))
docs[:, :42] = docs[src, :42]

encoder = Encoder()
E = embed_corpus(encoder, docs)
best = []
for block in range(0, len(E), 512):
    sim = E[block:block + 512] @ E.T
    rows = torch.arange(sim.shape[0])
    sim[rows, rows + block] = -1
    best.append(sim.max(1).values)
best = torch.cat(best)
print("mean nearest similarity", round(best.mean().item(), 5), " share above 0.9:", round((best > 0.9).float().mean().item(), 4))
"""
CURED = r"""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(23)


class Encoder(nn.Module):
    def __init__(self, vocab=8000, dim=192, seq=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.1 * torch.randn(seq, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 4, 256, dropout=0.0, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        return self.norm(self.layer(self.emb(ids) + self.pos))


@torch.no_grad()
def embed_corpus(encoder, docs, batch_size=64):
    encoder.eval()
    vectors = torch.empty(len(docs), encoder.pos.shape[1])
    for k, ids in enumerate(docs.split(batch_size)):
        h = encoder(ids)
        vectors[k * batch_size:k * batch_size + len(h)] = h[:, 0]
        if k % 20 == 0:
            print(f"{k * batch_size:5d} / {len(docs)} documents")
    return nn.functional.normalize(vectors, dim=1)


# corpus: each document copies a third of its tokens from another one
docs = torch.randint(0, 8000, (7168, 128))
src = torch.randint(0, 7168, (7168,))
docs[:, :42] = docs[src, :42]

encoder = Encoder()
E = embed_corpus(encoder, docs)
best = []
for block in range(0, len(E), 512):
    sim = E[block:block + 512] @ E.T
    rows = torch.arange(sim.shape[0])
    sim[rows, rows + block] = -1
    best.append(sim.max(1).values)
best = torch.cat(best)
print("mean nearest similarity", round(best.mean().item(), 5), " share above 0.9:", round((best > 0.9).float().mean().item(), 4))
"""
