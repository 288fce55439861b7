NAME = "Trains a two-tower product search model with in-batch negatives and measures recall on held-out queries after each epoch."
FAULT = "The whole catalogue is encoded again for every batch of validation queries, although the product vectors are the same for all batches of one evaluation."
CURE = "Encode the catalogue once per evaluation and hand the vectors to the searches of all query batches."
KIND = "time"
FAULT_LINES = ["vectors = torch.cat([model.encode_products(c) for c in catalogue.split(2000)])",
               "top = search(model, queries[rows], catalogue, k)",
               "def search(model, query_tokens, catalogue, k):"]
FAULT_CALLS = ["encode_products", "search", "linear", "addmm", "embedding_bag", "_embedding_bag", "gelu", "recall_at", "layer_norm"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

VOCAB, N_PRODUCTS, TITLE_LEN, QUERY_LEN = 6000, 16000, 12, 4
N_CLICKS, BATCH = 10000, 256

# titles: a topic word set plus noise words; queries borrow words of the clicked title
topics = np.random.randint(0, 300, N_PRODUCTS)
titles = (topics[:, None] * 18 + np.random.randint(0, 18, (N_PRODUCTS, TITLE_LEN)))
noise = np.random.rand(N_PRODUCTS, TITLE_LEN) < 0.3
titles[noise] = np.random.randint(0, VOCAB, noise.sum())
clicked = np.random.randint(0, N_PRODUCTS, N_CLICKS)
picks = np.random.randint(0, TITLE_LEN, (N_CLICKS, QUERY_LEN))
queries = np.take_along_axis(titles[clicked], picks, axis=1)

catalogue = torch.from_numpy(titles)
queries = torch.from_numpy(queries)
clicked = torch.from_numpy(clicked)


class Tower(nn.Module):
    def __init__(self, bag, dim, width):
        super().__init__()
        self.bag = bag
        self.mlp = nn.Sequential(nn.Linear(dim, width), nn.GELU(), nn.LayerNorm(width),
                                 nn.Linear(width, width), nn.GELU(), nn.Linear(width, dim))

    def forward(self, tokens):
        return F.normalize(self.mlp(self.bag(tokens)), dim=-1)


class SearchModel(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.query_tower = Tower(self.words, dim, 128)
        self.product_tower = Tower(self.words, dim, 384)
        self.scale = nn.Parameter(torch.tensor(2.7))

    def encode_products(self, tokens):
        return self.product_tower(tokens)

    def encode_queries(self, tokens):
        return self.query_tower(tokens)

    def loss(self, query_tokens, product_tokens):
        q, p = self.encode_queries(query_tokens), self.encode_products(product_tokens)
        logits = self.scale.exp() * q @ p.T
        return F.cross_entropy(logits, torch.arange(len(q)))


def search(model, query_tokens, catalogue, k):
    vectors = torch.cat([model.encode_products(c) for c in catalogue.split(2000)])
    scores = model.encode_queries(query_tokens) @ vectors.T
    return scores.topk(k, dim=1).indices


@torch.no_grad()
def recall_at(model, rows_all, k=20):
    model.eval()
    found = 0
    for rows in rows_all.split(100):
        top = search(model, queries[rows], catalogue, k)
        found += (top == clicked[rows, None]).any(dim=1).sum().item()
    model.train()
    return found / len(rows_all)


perm = torch.randperm(N_CLICKS)
train_rows, valid_rows = perm[:-1000], perm[-1000:]
model = SearchModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(5):
    shuffled = train_rows[torch.randperm(len(train_rows))]
    losses = []
    for rows in shuffled.split(BATCH):
        loss = model.loss(queries[rows], catalogue[clicked[rows]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} | loss {np.mean(losses):.3f} | recall@20 {recall_at(model, valid_rows):.3f}")
'''
CURED = FAULTY.replace('''def search(model, query_tokens, catalogue, k):
    vectors = torch.cat([model.encode_products(c) for c in catalogue.split(2000)])
''', '''def search(model, query_tokens, vectors, k):
''').replace('''    found = 0
''', '''    found = 0
    vectors = torch.cat([model.encode_products(c) for c in catalogue.split(2000)])
''').replace("search(model, queries[rows], catalogue, k)", "search(model, queries[rows], vectors, k)")
