NAME = 'Trains a bag-of-words passage retriever with hard negatives that are mined anew before each epoch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The whole corpus is encoded again before each epoch because the encoder has changed since, without which the mined negatives would be stale, and it is done in large batches without gradients.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)

VOCAB, TOPICS = 4000, 60
N_DOCS, DOC_LEN, N_QUERIES, QUERY_LEN = 6000, 48, 7000, 12
BATCH, N_HARD = 100, 4

# passages draw words from a topic distribution, queries from one passage;
# half of all words are stop words (the first 40 of the vocabulary)
topic_words = torch.randint(0, VOCAB, (TOPICS, 150))
topic = torch.randint(0, TOPICS, (N_DOCS,))
common = torch.randint(0, VOCAB, (N_DOCS, DOC_LEN))
stop = torch.randint(0, 40, (N_DOCS, DOC_LEN))
themed = topic_words[topic].gather(1, torch.randint(0, 150, (N_DOCS, DOC_LEN)))
docs = torch.where(torch.rand(N_DOCS, DOC_LEN) < 0.3, themed, common)
docs = torch.where(torch.rand(N_DOCS, DOC_LEN) < 0.5, stop, docs)

gold = torch.randint(0, N_DOCS, (N_QUERIES,))
queries = docs[gold].gather(1, torch.randint(0, DOC_LEN, (N_QUERIES, QUERY_LEN)))
noise = torch.randint(0, VOCAB, (N_QUERIES, QUERY_LEN))
queries = torch.where(torch.rand(N_QUERIES, QUERY_LEN) < 0.1, noise, queries)
train_q, test_q = torch.arange(6000), torch.arange(6000, N_QUERIES)


class Encoder(nn.Module):
    def __init__(self, dim=128, hidden=768):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(),
                                 nn.Linear(hidden, hidden), nn.GELU(),
                                 nn.Linear(hidden, dim))

    def forward(self, tokens):
        v = self.words(tokens)
        return F.normalize(v + self.mlp(v), dim=-1)


model = Encoder()
opt = torch.optim.Adam(model.parameters(), lr=5e-4)


@torch.no_grad()
def encode_corpus():
    model.eval()
    index = torch.cat([model(chunk) for chunk in docs.split(1000)])
    model.train()
    return index


@torch.no_grad()
def mine(index, depth=20):
    """For each training query: high-ranked passages that are not the right one."""
    hard = torch.empty(N_QUERIES, N_HARD, dtype=torch.long)
    for idx in train_q.split(500):
        scores = model(queries[idx]) @ index.T
        scores.scatter_(1, gold[idx, None], -2.0)
        top = scores.topk(depth).indices
        pick = torch.rand(len(idx), depth).argsort(1)[:, :N_HARD]
        hard[idx] = top.gather(1, pick)
    return hard


@torch.no_grad()
def mrr(index):
    scores = model(queries[test_q]) @ index.T
    right = scores.gather(1, gold[test_q, None])
    rank = (scores > right).sum(1) + 1
    return (1.0 / rank).mean().item()


index = encode_corpus()
print(f"before training  MRR {mrr(index):.3f}")
for epoch in range(1, 5):
    hard = mine(index)
    total = 0.0
    for idx in train_q[torch.randperm(len(train_q))].split(BATCH):
        q = model(queries[idx])
        pos = model(docs[gold[idx]])
        neg = model(docs[hard[idx].flatten()])
        logits = q @ torch.cat([pos, neg]).T / 0.05
        loss = F.cross_entropy(logits, torch.arange(len(idx)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    index = encode_corpus()
    print(f"epoch {epoch}  loss {total / len(train_q):.4f}  MRR {mrr(index):.3f}")
'''
