NAME = 'Embeds a product catalogue with a transformer and builds a search index from the first-token vectors.'
FAULT = 'The list keeps hidden[:, 0], a view that keeps the hidden states of all 96 tokens of each batch in memory until the index is built.'
CURE = 'Store a copy of the first-token vectors (hidden[:, 0].clone()) so that the hidden states of the batch can be freed.'
KIND = 'memory'
FAULT_LINES = ['cls = hidden[:, 0]', 'self.rows.append(cls)', 'hidden = self.encoder(ids)']
FAULT_CALLS = ['append', 'add', 'forward', 'layer_norm']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(8)
VOCAB, DIM, LENGTH = 2000, 128, 96


class Layer(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(LENGTH, DIM))
        self.layers = nn.ModuleList(Layer(DIM) for _ in range(depth))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids):
        h = self.tokens(ids) + self.pos[: ids.shape[1]]
        for layer in self.layers:
            h = layer(h)
        return self.norm(h)


class ProductIndex:
    '''Embeds product descriptions once; queries are matched by cosine similarity.'''

    def __init__(self, encoder):
        self.encoder = encoder.eval()
        self.rows, self.names = [], []

    @torch.inference_mode()
    def add(self, ids, names):
        hidden = self.encoder(ids)
        cls = hidden[:, 0]
        self.rows.append(cls)
        self.names.extend(names)

    def build(self):
        self.table = nn.functional.normalize(torch.cat(self.rows), dim=1)
        return self

    @torch.inference_mode()
    def query(self, ids, k=3):
        q = nn.functional.normalize(self.encoder(ids)[:, 0], dim=1)
        score, idx = (q @ self.table.T).topk(k)
        return [[(self.names[j], round(s, 3)) for s, j in zip(*r)] for r in zip(score.tolist(), idx.tolist())]


def catalogue(n, batch=64):
    gen = torch.Generator().manual_seed(0)
    for s in range(0, n, batch):
        ids = torch.randint(1, VOCAB, (batch, LENGTH), generator=gen)
        ids[:, 0] = 0
        yield ids, [f"sku{s + i:05d}" for i in range(batch)]


index = ProductIndex(Encoder())
for ids, names in catalogue(10240):
    index.add(ids, names)
index.build()
print("indexed", tuple(index.table.shape), f"mean {index.table.mean():.5f}")

probe, names = next(catalogue(64))
probe = probe[:4].clone()
probe[:, 40:44] = 7
for name, hits in zip(names, index.query(probe)):
    print(name, hits[0])
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(8)
VOCAB, DIM, LENGTH = 2000, 128, 96


class Layer(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.ff(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(LENGTH, DIM))
        self.layers = nn.ModuleList(Layer(DIM) for _ in range(depth))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids):
        h = self.tokens(ids) + self.pos[: ids.shape[1]]
        for layer in self.layers:
            h = layer(h)
        return self.norm(h)


class ProductIndex:
    '''Embeds product descriptions once; queries are matched by cosine similarity.'''

    def __init__(self, encoder):
        self.encoder = encoder.eval()
        self.rows, self.names = [], []

    @torch.inference_mode()
    def add(self, ids, names):
        hidden = self.encoder(ids)
        cls = hidden[:, 0].clone()
        self.rows.append(cls)
        self.names.extend(names)

    def build(self):
        self.table = nn.functional.normalize(torch.cat(self.rows), dim=1)
        return self

    @torch.inference_mode()
    def query(self, ids, k=3):
        q = nn.functional.normalize(self.encoder(ids)[:, 0], dim=1)
        score, idx = (q @ self.table.T).topk(k)
        return [[(self.names[j], round(s, 3)) for s, j in zip(*r)] for r in zip(score.tolist(), idx.tolist())]


def catalogue(n, batch=64):
    gen = torch.Generator().manual_seed(0)
    for s in range(0, n, batch):
        ids = torch.randint(1, VOCAB, (batch, LENGTH), generator=gen)
        ids[:, 0] = 0
        yield ids, [f"sku{s + i:05d}" for i in range(batch)]


index = ProductIndex(Encoder())
for ids, names in catalogue(10240):
    index.add(ids, names)
index.build()
print("indexed", tuple(index.table.shape), f"mean {index.table.mean():.5f}")

probe, names = next(catalogue(64))
probe = probe[:4].clone()
probe[:, 40:44] = 7
for name, hits in zip(names, index.query(probe)):
    print(name, hits[0])
"""
