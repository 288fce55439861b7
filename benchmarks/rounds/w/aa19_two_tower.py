NAME = "Trains a two-tower retrieval model with in-batch negatives and reports recall and MRR at 10 over the whole document set."
FAULT = "For the ten best documents of a query the scores of all documents are fully sorted."
CURE = "Use topk(K) in place of the full argsort."
KIND = "time"
FAULT_LINES = ["order = scores.argsort(dim=1, descending=True)", "top = order[:, :K]"]
FAULT_CALLS = ["argsort", "sort", "rank_metrics"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(42)

VOCAB, N_DOCS, DOC_LEN, Q_LEN, K = 5000, 16_000, 30, 5, 10


def synth_collection():
    # each doc is about one of 200 topics; words come from a topic-specific slice plus background
    topic = torch.randint(0, 200, (N_DOCS,))
    topical = topic[:, None] * 20 + torch.randint(0, 20, (N_DOCS, DOC_LEN))
    rare = 4000 + torch.randint(0, 1000, (N_DOCS, DOC_LEN))
    docs = torch.where(torch.rand(N_DOCS, DOC_LEN) < 0.6, topical, rare)
    pick = torch.rand(N_DOCS, DOC_LEN).topk(Q_LEN, dim=1).indices
    queries = docs.gather(1, pick)
    noise = torch.rand(N_DOCS, Q_LEN) < 0.1
    queries[noise] = torch.randint(0, VOCAB, (int(noise.sum()),))
    return docs, queries


class Tower(nn.Module):
    def __init__(self, words, dim=64):
        super().__init__()
        self.words = words
        self.proj = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, ids):
        v = self.words(ids)
        return F.normalize(v + self.proj(v), dim=-1)


class Retriever(nn.Module):
    def __init__(self, dim=64, temp=0.07):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.q, self.d = Tower(self.words, dim), Tower(self.words, dim)
        self.temp = temp

    def loss(self, q_ids, d_ids):
        sim = self.q(q_ids) @ self.d(d_ids).T / self.temp
        return F.cross_entropy(sim, torch.arange(len(q_ids)))


@torch.no_grad()
def rank_metrics(model, docs, queries, q_rows, chunk=200):
    model.eval()
    index = torch.cat([model.d(d) for d in docs.split(4000)])
    recall = mrr = 0.0
    for rows in q_rows.split(chunk):
        scores = model.q(queries[rows]) @ index.T
        order = scores.argsort(dim=1, descending=True)
        top = order[:, :K]
        hit = top == rows[:, None]
        recall += hit.any(1).sum().item()
        mrr += (hit.float() / torch.arange(1, K + 1)).sum().item()
    return recall / len(q_rows), mrr / len(q_rows)


docs, queries = synth_collection()
perm = torch.randperm(N_DOCS)
test_rows, train_rows = perm[:1000], perm[1000:]
model = Retriever()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(5):
    model.train()
    total, steps = 0.0, 0
    for rows in train_rows[torch.randperm(len(train_rows))].split(250):
        loss = model.loss(queries[rows], docs[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    r, m = rank_metrics(model, docs, queries, test_rows)
    print(f"epoch {epoch + 1} | loss {total / steps:.3f} | recall@{K} {r:.3f} | MRR@{K} {m:.3f}")
'''
CURED = FAULTY.replace("        order = scores.argsort(dim=1, descending=True)\n", "").replace(
    "top = order[:, :K]", "top = scores.topk(K, dim=1).indices")
