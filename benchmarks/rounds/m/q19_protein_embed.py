NAME = 'Embeds random protein sequences with a transformer encoder and probes the embeddings for a motif.'

FAULT = 'The collected first-token embeddings are views that keep the hidden states of all tokens of every batch alive.'

CURE = 'Copy the slice out of the hidden states (into one preallocated tensor, or .clone()) instead of keeping a view.'

KIND = 'memory'

FAULT_LINES = ['pooled.append(hidden[:, 0])', 'return torch.cat(pooled)']

FAULT_CALLS = ['embed', 'torch.nn.TransformerEncoder.forward']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(33)

AMINO = "ACDEFGHIKLMNPQRSTVWY"
MOTIF = "HExxHNDKCC"
N_SEQ, LENGTH, DIM = 3200, 127, 192


def make_proteins(rng):
    freq = rng.dirichlet(np.full(20, 8.0))
    seqs = rng.choice(20, size=(N_SEQ, LENGTH), p=freq)
    has = rng.random(N_SEQ) < 0.5
    for i in np.flatnonzero(has):
        for _ in range(3):
            at = rng.integers(0, LENGTH - len(MOTIF))
            for k, aa in enumerate(MOTIF):
                if aa != "x":
                    seqs[i, at + k] = AMINO.index(aa)
    return seqs, has.astype(np.float32)


class ProteinEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(21, DIM)
        self.pos = nn.Parameter(0.1 * torch.randn(LENGTH + 1, DIM))
        layer = nn.TransformerEncoderLayer(DIM, 4, 256, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, tokens):
        cls = torch.full((len(tokens), 1), 20)
        x = torch.cat([cls, tokens], dim=1)
        return self.encoder(self.tok(x) + self.pos)


@torch.no_grad()
def embed(model, tokens, batch_size=32):
    model.eval()
    pooled = []
    for start in range(0, len(tokens), batch_size):
        hidden = model(tokens[start:start + batch_size])
        pooled.append(hidden[:, 0])
    return torch.cat(pooled)


def linear_probe(z, y, n_train, steps=200):
    mu, sd = z[:n_train].mean(0), z[:n_train].std(0)
    z = (z - mu) / (sd + 1e-6)
    probe = nn.Linear(DIM, 1)
    opt = torch.optim.SGD(probe.parameters(), lr=0.3)
    for _ in range(steps):
        opt.zero_grad()
        logit = probe(z[:n_train]).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(logit, y[:n_train])
        loss.backward()
        opt.step()
    with torch.no_grad():
        hit = (probe(z[n_train:]).squeeze(-1) > 0) == (y[n_train:] > 0.5)
    return loss.item(), hit.float().mean().item()


rng = np.random.default_rng(33)
seqs, has = make_proteins(rng)
tokens, y = torch.from_numpy(seqs), torch.from_numpy(has)

encoder = ProteinEncoder()
z = embed(encoder, tokens)
print("embeddings", tuple(z.shape), f"norm {z.norm(dim=1).mean():.4f}")
loss, acc = linear_probe(z, y, n_train=2400)
print(f"probe loss {loss:.4f}  accuracy {acc:.4f}")

zn = nn.functional.normalize(z - z.mean(0), dim=1)
sim = zn[:800] @ zn[800:2400].T
same = y[:800, None] == y[None, 800:2400]
print(f"mean similarity: same class {sim[same].mean():+.5f}, different {sim[~same].mean():+.5f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(33)

AMINO = "ACDEFGHIKLMNPQRSTVWY"
MOTIF = "HExxHNDKCC"
N_SEQ, LENGTH, DIM = 3200, 127, 192


def make_proteins(rng):
    freq = rng.dirichlet(np.full(20, 8.0))
    seqs = rng.choice(20, size=(N_SEQ, LENGTH), p=freq)
    has = rng.random(N_SEQ) < 0.5
    for i in np.flatnonzero(has):
        for _ in range(3):
            at = rng.integers(0, LENGTH - len(MOTIF))
            for k, aa in enumerate(MOTIF):
                if aa != "x":
                    seqs[i, at + k] = AMINO.index(aa)
    return seqs, has.astype(np.float32)


class ProteinEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(21, DIM)
        self.pos = nn.Parameter(0.1 * torch.randn(LENGTH + 1, DIM))
        layer = nn.TransformerEncoderLayer(DIM, 4, 256, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, tokens):
        cls = torch.full((len(tokens), 1), 20)
        x = torch.cat([cls, tokens], dim=1)
        return self.encoder(self.tok(x) + self.pos)


@torch.no_grad()
def embed(model, tokens, batch_size=32):
    model.eval()
    pooled = torch.empty(len(tokens), DIM)
    for start in range(0, len(tokens), batch_size):
        hidden = model(tokens[start:start + batch_size])
        pooled[start:start + batch_size] = hidden[:, 0]
    return pooled


def linear_probe(z, y, n_train, steps=200):
    mu, sd = z[:n_train].mean(0), z[:n_train].std(0)
    z = (z - mu) / (sd + 1e-6)
    probe = nn.Linear(DIM, 1)
    opt = torch.optim.SGD(probe.parameters(), lr=0.3)
    for _ in range(steps):
        opt.zero_grad()
        logit = probe(z[:n_train]).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(logit, y[:n_train])
        loss.backward()
        opt.step()
    with torch.no_grad():
        hit = (probe(z[n_train:]).squeeze(-1) > 0) == (y[n_train:] > 0.5)
    return loss.item(), hit.float().mean().item()


rng = np.random.default_rng(33)
seqs, has = make_proteins(rng)
tokens, y = torch.from_numpy(seqs), torch.from_numpy(has)

encoder = ProteinEncoder()
z = embed(encoder, tokens)
print("embeddings", tuple(z.shape), f"norm {z.norm(dim=1).mean():.4f}")
loss, acc = linear_probe(z, y, n_train=2400)
print(f"probe loss {loss:.4f}  accuracy {acc:.4f}")

zn = nn.functional.normalize(z - z.mean(0), dim=1)
sim = zn[:800] @ zn[800:2400].T
same = y[:800, None] == y[None, 800:2400]
print(f"mean similarity: same class {sim[same].mean():+.5f}, different {sim[~same].mean():+.5f}")
"""

MEASURED = 'The shorter cure pooled.append(hidden[:, 0].clone()) gave 460 and 677 MB in two rounds (the small copies break up the heap), hence a preallocated tensor in CURED.'
