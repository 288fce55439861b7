NAME = "Classifies DNA reads by taxon with a bag-of-k-mers network, cropping every read at random in each epoch."
FAULT = "Every read is turned into k-mer numbers by a Python loop of string slices and dict look-ups, every epoch."
CURE = "Compute the k-mer numbers with NumPy: look up base codes for the byte string and combine k shifted copies."
KIND = "time"
FAULT_LINES = [
    "ids = [KMER_ID[read[i:i + K]] for i in range(len(read) - K + 1)]",
    "return torch.tensor(ids)",
    "encoded = [encode(crop(r)) for r, _ in batch]",
]
FAULT_CALLS = ["encode", "collate", "<listcomp>", "tensor", "torch.tensor"]
FAULTY = r'''
import itertools
import random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(5)
random.seed(5)
np.random.seed(5)

K = 6
BASES = "ACGT"
KMER_ID = {"".join(p): n for n, p in enumerate(itertools.product(BASES, repeat=K))}
TAXA = 6
CROP = 240


def simulate_reads(n_per_taxon, rng):
    """Each taxon is a second-order Markov chain with its own transition table."""
    reads = []
    for taxon in range(TAXA):
        table = rng.dirichlet(np.ones(4) * 6.0, size=16).cumsum(axis=1)
        lengths = rng.integers(260, 400, size=n_per_taxon)
        state = rng.integers(0, 16, size=n_per_taxon)
        out = np.empty((n_per_taxon, 400), dtype=np.int64)
        for j in range(400):
            u = rng.random(n_per_taxon)[:, None]
            nxt = np.minimum((u > table[state]).sum(axis=1), 3)
            out[:, j] = nxt
            state = (state * 4 + nxt) % 16
        letters = np.array(list(BASES))[out]
        reads += [("".join(row[:n]), taxon) for row, n in zip(letters, lengths)]
    random.shuffle(reads)
    return reads


def crop(read):
    start = random.randint(0, len(read) - CROP)
    return read[start:start + CROP]


def encode(read):
    ids = [KMER_ID[read[i:i + K]] for i in range(len(read) - K + 1)]
    return torch.tensor(ids)


def collate(batch):
    encoded = [encode(crop(r)) for r, _ in batch]
    labels = torch.tensor([t for _, t in batch])
    return torch.stack(encoded), labels


class KmerBag(nn.Module):
    def __init__(self, dim=64, hidden=128):
        super().__init__()
        self.bag = nn.EmbeddingBag(len(KMER_ID), dim, mode="mean")
        self.head = nn.Sequential(
            nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, TAXA))

    def forward(self, ids):
        return self.head(self.bag(ids))


rng = np.random.default_rng(5)
reads = simulate_reads(1000, rng)
cut = int(0.85 * len(reads))
train = DataLoader(reads[:cut], batch_size=64, shuffle=True, collate_fn=collate)
test = DataLoader(reads[cut:], batch_size=256, collate_fn=collate)

model = KmerBag()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
criterion = nn.CrossEntropyLoss()

for epoch in range(12):
    model.train()
    loss_sum = 0.0
    for ids, target in train:
        optimizer.zero_grad()
        loss = criterion(model(ids), target)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    if epoch % 4 == 3:
        model.eval()
        with torch.no_grad():
            hits = sum((model(ids).argmax(1) == t).sum().item() for ids, t in test)
        print(f"epoch {epoch + 1:2d}  loss {loss_sum / len(train):.4f}  test acc {hits / (len(reads) - cut):.3f}")
'''
CURED = FAULTY.replace("""    ids = [KMER_ID[read[i:i + K]] for i in range(len(read) - K + 1)]
    return torch.tensor(ids)
""", """    codes = BASE_CODE[np.frombuffer(read.encode(), dtype=np.uint8)]
    n = len(codes) - K + 1
    ids = sum(codes[j:j + n] * 4 ** (K - 1 - j) for j in range(K))
    return torch.from_numpy(ids)
""").replace("TAXA = 6\n", "TAXA = 6\nBASE_CODE = np.zeros(256, dtype=np.int64)\nBASE_CODE[[ord(b) for b in BASES]] = np.arange(4)\n")
