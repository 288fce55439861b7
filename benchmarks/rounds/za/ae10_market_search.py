NAME = "Trains a two-tower model for marketplace search with hard negatives mined from the whole catalogue before every epoch."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The whole catalogue is encoded and scored again in every epoch, which looks like repeated computation that should be cached, but the tower's weights have changed in between and the hard negatives must come from the current model."
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(90)
rng = np.random.default_rng(90)

N_ITEMS, N_QUERIES, N_TEST, D_TEXT = 16_000, 6_000, 800, 96


def make_market():
    """Listings around category centres; a query is a noisy, rotated view of the listing bought."""
    centres = rng.standard_normal((120, D_TEXT)).astype(np.float32)
    category = rng.integers(0, 120, N_ITEMS)
    items = centres[category] + 0.7 * rng.standard_normal((N_ITEMS, D_TEXT)).astype(np.float32)
    bought = rng.integers(0, N_ITEMS, N_QUERIES + N_TEST)
    twist = np.linalg.qr(rng.standard_normal((D_TEXT, D_TEXT)))[0].astype(np.float32)
    queries = np.tanh(items[bought] @ twist)
    queries += 0.3 * rng.standard_normal(queries.shape).astype(np.float32)
    return torch.from_numpy(items), torch.from_numpy(queries), torch.from_numpy(bought)


class Tower(nn.Module):
    def __init__(self, d_in, d_out=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_in, 256), nn.ReLU(),
            nn.Linear(256, 192), nn.ReLU(),
            nn.Linear(192, d_out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


@torch.no_grad()
def encode_all(tower, x, size=2048):
    return torch.cat([tower(part) for part in x.split(size)])


@torch.no_grad()
def mine(q_tower, i_tower, queries, items, bought, k=4, size=500):
    """Indices of the k best-scored wrong listings per query."""
    vecs = encode_all(i_tower, items)
    found = []
    for q, own in zip(queries.split(size), bought.split(size)):
        scores = q_tower(q) @ vecs.T
        scores[torch.arange(len(own)), own] = -2.0
        found.append(scores.topk(k, dim=1, sorted=False).indices)
    return torch.cat(found)


@torch.no_grad()
def recall_at(q_tower, i_tower, queries, items, bought, k=10):
    vecs = encode_all(i_tower, items)
    top = (q_tower(queries) @ vecs.T).topk(k, dim=1).indices
    return (top == bought[:, None]).any(1).float().mean().item()


items, queries, bought = make_market()
test_q, test_b = queries[N_QUERIES:], bought[N_QUERIES:]
queries, bought = queries[:N_QUERIES], bought[:N_QUERIES]

q_tower, i_tower = Tower(D_TEXT), Tower(D_TEXT)
params = list(q_tower.parameters()) + list(i_tower.parameters())
opt = torch.optim.Adam(params, lr=1e-3)
temperature = 0.07

for epoch in range(10):
    hard = mine(q_tower, i_tower, queries, items, bought)
    total = 0.0
    for rows in torch.randperm(N_QUERIES).split(200):
        q = q_tower(queries[rows])
        pos_neg = torch.cat([bought[rows][:, None], hard[rows]], dim=1)
        listed, where = pos_neg.unique(return_inverse=True)
        v = i_tower(items[listed])[where]                         # (B, 1 + k, d)
        hard_logits = torch.einsum("bd,bkd->bk", q, v)
        in_batch = q @ v[:, 0].T
        same = bought[rows][:, None] == bought[rows][None, :]
        in_batch = in_batch.masked_fill(same, -2.0)
        logits = torch.cat([hard_logits, in_batch], dim=1) / temperature
        loss = F.cross_entropy(logits, torch.zeros(len(rows), dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    if epoch % 3 == 0:
        r = recall_at(q_tower, i_tower, test_q, items, test_b)
        print(f"epoch {epoch}: loss {total / N_QUERIES:.3f}  recall@10 {r:.3f}")
'''
