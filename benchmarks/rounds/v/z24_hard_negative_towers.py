NAME = 'Trains a two-tower retriever with hard negatives that are mined from the whole corpus in each epoch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The corpus must be embedded again in each epoch because the document tower has changed, the bank is shared by evaluation and mining, and the chunked search only bounds memory.'
GOOD = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)
N_DOCS, N_QUERIES, RAW, DIM = 12_000, 4_000, 256, 96

centres = torch.randn(400, 32)
mix = torch.randn(32, RAW) / 32 ** 0.5
doc_code = centres[torch.randint(400, (N_DOCS,))] + 0.6 * torch.randn(N_DOCS, 32)
docs = torch.tanh(doc_code @ mix) + 0.4 * torch.randn(N_DOCS, RAW)
gold = torch.randperm(N_DOCS)[:N_QUERIES]
query_mix = torch.randn(32, RAW) / 32 ** 0.5
queries = torch.tanh((doc_code[gold] + 0.5 * torch.randn(N_QUERIES, 32)) @ query_mix) + 0.6 * torch.randn(N_QUERIES, RAW)


def tower():
    return nn.Sequential(nn.Linear(RAW, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, DIM))


class DualEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.d = tower(), tower()

    def query(self, x):
        return F.normalize(self.q(x), dim=-1)

    def doc(self, x):
        return F.normalize(self.d(x), dim=-1)


@torch.no_grad()
def embed(fn, x, size=1000):
    return torch.cat([fn(part) for part in x.split(size)])


@torch.no_grad()
def search(q, bank, k, size=500):
    return torch.cat([(part @ bank.T).topk(k, dim=1).indices for part in q.split(size)])


def mine(model, idx, bank, depth=20):
    found = search(embed(model.query, queries[idx]), bank, depth)
    found = torch.where(found == gold[idx][:, None], found.roll(1, dims=1), found)
    return found


def recall(model, idx, bank, k=10):
    found = search(embed(model.query, queries[idx]), bank, k)
    return (found == gold[idx][:, None]).any(1).float().mean().item()


train_idx, valid_idx = torch.arange(3200), torch.arange(3200, N_QUERIES)
model = DualEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=1e-3)
N_HARD, BATCH = 3, 128

for epoch in range(7):
    bank = embed(model.doc, docs)
    print(f"epoch {epoch}  recall@10 before {recall(model, valid_idx, bank):.3f}", end="  ")
    pool = mine(model, train_idx, bank)
    total = 0.0
    for idx in torch.randperm(len(train_idx)).split(BATCH):
        pick = torch.randint(pool.shape[1], (len(idx), N_HARD))
        hard = pool[idx].gather(1, pick)
        q = model.query(queries[idx])
        d = model.doc(docs[torch.cat([gold[idx], hard.flatten()])])
        loss = F.cross_entropy(q @ d.T / 0.06, torch.arange(len(idx)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"loss {total / len(train_idx):.4f}")
print(f"final recall@10 {recall(model, valid_idx, embed(model.doc, docs)):.3f}")
"""
