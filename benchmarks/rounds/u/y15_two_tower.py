NAME = 'Trains a two-tower retrieval model on query and product features from data frames and reports recall@10.'
FAULT = 'The float64 values of the data frames are kept and the towers are turned to double, so every matrix product runs in double precision.'
CURE = 'Convert the arrays to float32 and leave the towers in single precision.'
KIND = 'time'
FAULT_LINES = ['query_x = torch.tensor(queries.to_numpy())', 'product_x = torch.tensor(products.to_numpy())', 'model = TwoTower(queries.shape[1], products.shape[1]).double()']
FAULT_CALLS = ['double', 'tensor', 'linear', 'addmm', 'mm', 'matmul', 'backward']

FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

# ---- queries and products share a hidden taste vector ----------------------
n_products, n_queries, latent = 6000, 12_000, 16
product_z = rng.normal(size=(n_products, latent))
clicked = rng.integers(0, n_products, n_queries)
query_z = product_z[clicked] + 0.9 * rng.normal(size=(n_queries, latent))

products = pd.DataFrame(product_z @ rng.normal(size=(latent, 96)) + 0.5 * rng.normal(size=(n_products, 96)),
                        columns=[f"p{i}" for i in range(96)])
queries = pd.DataFrame(query_z @ rng.normal(size=(latent, 64)) + 0.5 * rng.normal(size=(n_queries, 64)),
                       columns=[f"q{i}" for i in range(64)])
products = (products - products.mean()) / products.std()
queries = (queries - queries.mean()) / queries.std()

query_x = torch.tensor(queries.to_numpy())
product_x = torch.tensor(products.to_numpy())
target = torch.from_numpy(clicked)
train_idx, test_idx = torch.arange(10_000), torch.arange(10_000, n_queries)


# ---- model -----------------------------------------------------------------
def tower(d_in, d_hidden=512, d_out=64):
    return nn.Sequential(
        nn.Linear(d_in, d_hidden), nn.ReLU(),
        nn.Linear(d_hidden, d_hidden), nn.ReLU(),
        nn.Linear(d_hidden, d_out),
    )


class TwoTower(nn.Module):
    def __init__(self, d_query, d_product, temperature=0.07):
        super().__init__()
        self.query_tower = tower(d_query)
        self.product_tower = tower(d_product)
        self.temperature = temperature

    def encode_query(self, x):
        return F.normalize(self.query_tower(x), dim=-1)

    def encode_product(self, x):
        return F.normalize(self.product_tower(x), dim=-1)

    def forward(self, q, p):
        return self.encode_query(q) @ self.encode_product(p).T / self.temperature


@torch.no_grad()
def recall_at(model, k=10):
    index = model.encode_product(product_x)
    hits = 0
    for idx in test_idx.split(500):
        scores = model.encode_query(query_x[idx]) @ index.T
        hits += (scores.topk(k).indices == target[idx, None]).any(1).sum().item()
    return hits / len(test_idx)


# ---- training --------------------------------------------------------------
model = TwoTower(queries.shape[1], products.shape[1]).double()
opt = torch.optim.Adam(model.parameters(), lr=2e-4)
labels = torch.arange(250)
for epoch in range(1, 8):
    total, steps = 0.0, 0
    for idx in train_idx[torch.randperm(len(train_idx))].split(250):
        logits = model(query_x[idx], product_x[target[idx]])
        loss = 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch}  loss {total / steps:.2f}")
print(f"recall@10 {recall_at(model):.2f}")
'''

CURED = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

# ---- queries and products share a hidden taste vector ----------------------
n_products, n_queries, latent = 6000, 12_000, 16
product_z = rng.normal(size=(n_products, latent))
clicked = rng.integers(0, n_products, n_queries)
query_z = product_z[clicked] + 0.9 * rng.normal(size=(n_queries, latent))

products = pd.DataFrame(product_z @ rng.normal(size=(latent, 96)) + 0.5 * rng.normal(size=(n_products, 96)),
                        columns=[f"p{i}" for i in range(96)])
queries = pd.DataFrame(query_z @ rng.normal(size=(latent, 64)) + 0.5 * rng.normal(size=(n_queries, 64)),
                       columns=[f"q{i}" for i in range(64)])
products = (products - products.mean()) / products.std()
queries = (queries - queries.mean()) / queries.std()

query_x = torch.tensor(queries.to_numpy(), dtype=torch.float32)
product_x = torch.tensor(products.to_numpy(), dtype=torch.float32)
target = torch.from_numpy(clicked)
train_idx, test_idx = torch.arange(10_000), torch.arange(10_000, n_queries)


# ---- model -----------------------------------------------------------------
def tower(d_in, d_hidden=512, d_out=64):
    return nn.Sequential(
        nn.Linear(d_in, d_hidden), nn.ReLU(),
        nn.Linear(d_hidden, d_hidden), nn.ReLU(),
        nn.Linear(d_hidden, d_out),
    )


class TwoTower(nn.Module):
    def __init__(self, d_query, d_product, temperature=0.07):
        super().__init__()
        self.query_tower = tower(d_query)
        self.product_tower = tower(d_product)
        self.temperature = temperature

    def encode_query(self, x):
        return F.normalize(self.query_tower(x), dim=-1)

    def encode_product(self, x):
        return F.normalize(self.product_tower(x), dim=-1)

    def forward(self, q, p):
        return self.encode_query(q) @ self.encode_product(p).T / self.temperature


@torch.no_grad()
def recall_at(model, k=10):
    index = model.encode_product(product_x)
    hits = 0
    for idx in test_idx.split(500):
        scores = model.encode_query(query_x[idx]) @ index.T
        hits += (scores.topk(k).indices == target[idx, None]).any(1).sum().item()
    return hits / len(test_idx)


# ---- training --------------------------------------------------------------
model = TwoTower(queries.shape[1], products.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=2e-4)
labels = torch.arange(250)
for epoch in range(1, 8):
    total, steps = 0.0, 0
    for idx in train_idx[torch.randperm(len(train_idx))].split(250):
        logits = model(query_x[idx], product_x[target[idx]])
        loss = 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch}  loss {total / steps:.2f}")
print(f"recall@10 {recall_at(model):.2f}")
'''
