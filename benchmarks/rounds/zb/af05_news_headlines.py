NAME = "Classifies news headlines with hashed word and bigram embeddings (fastText style)."
FAULT = "The embedding table of hashed n-grams gets dense gradients, so every step zeroes, fills and updates all rows while a batch touches only a few hundred."
CURE = "Create the EmbeddingBag with sparse=True (plain SGD gives the same updates)."
KIND = "time"
FAULT_LINES = [
    "        self.bag = nn.EmbeddingBag(BUCKETS, DIM, mode=\"sum\")",
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.2)",
    "        optimizer.step()",
    "        loss.backward()",
]
FAULT_CALLS = ["step", "Optimizer.step#SGD.step", "_embedding_bag_dense_backward", "add_", "_single_tensor_sgd", "backward", "zero_", "zeros", "fill_", "run_backward"]
FAULTY = r'''import zlib
import numpy as np
import pandas as pd
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2024)
rng = np.random.default_rng(2024)

# ---------------------------------------------------------------- data
TOPICS = ["politics", "sport", "business", "science", "culture"]
BUCKETS, DIM = 60_000, 64
syll = ["ba", "ko", "ri", "men", "tal", "su", "vo", "lin", "dra", "pe", "gor", "nis"]
lexicon = ["".join(rng.choice(syll, rng.integers(2, 5))) for _ in range(6000)]
common = np.arange(0, 1000)
topical = {t: np.arange(1000 + 1000 * k, 2000 + 1000 * k) for k, t in enumerate(TOPICS)}


def headline(topic):
    n = rng.integers(6, 12)
    pool = np.where(rng.random(n) < 0.4, rng.choice(topical[topic], n), rng.choice(common, n))
    return " ".join(lexicon[i] for i in pool)


df = pd.DataFrame({"topic": rng.choice(TOPICS, 12_000)})
df["title"] = df.topic.map(headline)


# ---------------------------------------------------------------- features
def hashed(title):
    w = title.split()
    grams = w + [a + "_" + b for a, b in zip(w, w[1:])]
    return [zlib.crc32(g.encode()) % BUCKETS for g in grams]


ids = [torch.tensor(hashed(t)) for t in df.title]
labels = torch.tensor(df.topic.map(TOPICS.index).to_numpy())
n_train = 10_000


def batches(index, size):
    for part in index.split(size):
        chunk = [ids[i] for i in part.tolist()]
        lens = torch.tensor([0] + [len(c) for c in chunk[:-1]])
        yield torch.cat(chunk), lens.cumsum(0), labels[part]


# ---------------------------------------------------------------- model
class HeadlineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, DIM, mode="sum")
        nn.init.normal_(self.bag.weight, std=0.1)
        self.mlp = nn.Sequential(nn.Linear(DIM, 512), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, len(TOPICS)))

    def forward(self, tok, off):
        return self.mlp(self.bag(tok, off))


model = HeadlineNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()
test_index = torch.arange(n_train, len(df))

# ---------------------------------------------------------------- training
for epoch in range(7):
    model.train()
    total = 0.0
    for tok, off, y in batches(torch.randperm(n_train), 64):
        optimizer.zero_grad()
        loss = criterion(model(tok, off), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    print(f"epoch {epoch + 1}: loss {total / n_train:.3f}")

model.eval()
with torch.no_grad():
    pred = torch.cat([model(t, o).argmax(1) for t, o, _ in batches(test_index, 500)])
test = df.iloc[n_train:].assign(hit=(pred == labels[n_train:]).numpy())
print(f"test accuracy {test.hit.mean():.3f}")
print(test.groupby("topic").hit.mean().round(2).to_string())
'''
CURED = FAULTY.replace('mode="sum")', 'mode="sum", sparse=True)')
