NAME = 'h13_kg_link_ranks'
FAULT = "To find one gold entity's rank, all 30000 entity scores per query are fully sorted (argsort, then argsort again to get ranks)."
CURE = 'Count the entities scoring higher than the gold one: rank = (scores > gold).sum(1) + 1.'
KIND = 'time'
FAULT_LINES = [
    '        order = scores.argsort(dim=1, descending=True)',
    '        ranks = order.argsort(dim=1)',
]
FAULT_CALLS = ['aten::argsort', 'aten::sort', 'torch.Tensor.argsort', 'torch.argsort']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)

# drug / gene / disease style knowledge graph from a latent type model
N_ENT, N_REL, DIM = 25000, 12, 64
N_TRAIN, N_TEST = 80000, 1600

latent = torch.randn(N_ENT, 8)
rel_scale = torch.randn(N_REL, 8)

def sample_triples(n):
    h = torch.randint(0, N_ENT, (n,))
    r = torch.randint(0, N_REL, (n,))
    cand = torch.randint(0, N_ENT, (n, 40))
    target = latent[h] * rel_scale[r]
    fit = torch.einsum('ne,nce->nc', target, latent[cand])
    t = cand.gather(1, fit.argmax(1, keepdim=True)).squeeze(1)
    return torch.stack([h, r, t], 1)

train = sample_triples(N_TRAIN)
test = sample_triples(N_TEST)

# description embeddings carry part of the latent type
text_vecs = torch.cat([latent + 0.2 * torch.randn(N_ENT, 8), 0.3 * torch.randn(N_ENT, DIM - 8)], 1)

class DistMult(nn.Module):
    def __init__(self):
        super().__init__()
        self.ent = nn.Embedding.from_pretrained(text_vecs, freeze=False, sparse=True)
        self.rel = nn.Embedding(N_REL, DIM, sparse=True)
        nn.init.normal_(self.rel.weight, std=0.2)

    def query(self, h, r):
        return self.ent(h) * self.rel(r)

model = DistMult()
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)

for step in range(400):
    batch = train[torch.randint(0, N_TRAIN, (512,))]
    q = model.query(batch[:, 0], batch[:, 1])
    logits = q @ model.ent(batch[:, 2]).T
    loss = F.cross_entropy(logits, torch.arange(len(batch)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print(f"step {step + 1} in-batch loss {loss.item():.4f}")

# known tails of every (head, relation), for the filtered setting
known = {}
for h, r, t in torch.cat([train, test]).tolist():
    known.setdefault((h, r), []).append(t)

@torch.no_grad()
def evaluate(triples, batch_size=100):
    all_ranks = []
    for part in triples.split(batch_size):
        h, r, t = part.unbind(1)
        scores = model.query(h, r) @ model.ent.weight.T
        for i, (hh, rr, tt) in enumerate(part.tolist()):
            others = [e for e in known[(hh, rr)] if e != tt]
            scores[i, others] = -1e9
        order = scores.argsort(dim=1, descending=True)
        ranks = order.argsort(dim=1)
        all_ranks.append(ranks.gather(1, t[:, None]).squeeze(1) + 1)
    return torch.cat(all_ranks)

ranks = evaluate(test).float()
print(f"filtered MRR {(1 / ranks).mean():.5f}  mean rank {ranks.mean():.1f}")
for k in (1, 10, 100, 1000):
    print(f"hits@{k:<5d} {(ranks <= k).float().mean():.4f}")

by_rel = torch.zeros(N_REL).index_add_(0, test[:, 1], ranks)
count = torch.bincount(test[:, 1], minlength=N_REL)
print("mean rank per relation:", [round(v, 1) for v in (by_rel / count).tolist()])
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(12)

# drug / gene / disease style knowledge graph from a latent type model
N_ENT, N_REL, DIM = 25000, 12, 64
N_TRAIN, N_TEST = 80000, 1600

latent = torch.randn(N_ENT, 8)
rel_scale = torch.randn(N_REL, 8)

def sample_triples(n):
    h = torch.randint(0, N_ENT, (n,))
    r = torch.randint(0, N_REL, (n,))
    cand = torch.randint(0, N_ENT, (n, 40))
    target = latent[h] * rel_scale[r]
    fit = torch.einsum('ne,nce->nc', target, latent[cand])
    t = cand.gather(1, fit.argmax(1, keepdim=True)).squeeze(1)
    return torch.stack([h, r, t], 1)

train = sample_triples(N_TRAIN)
test = sample_triples(N_TEST)

# description embeddings carry part of the latent type
text_vecs = torch.cat([latent + 0.2 * torch.randn(N_ENT, 8), 0.3 * torch.randn(N_ENT, DIM - 8)], 1)

class DistMult(nn.Module):
    def __init__(self):
        super().__init__()
        self.ent = nn.Embedding.from_pretrained(text_vecs, freeze=False, sparse=True)
        self.rel = nn.Embedding(N_REL, DIM, sparse=True)
        nn.init.normal_(self.rel.weight, std=0.2)

    def query(self, h, r):
        return self.ent(h) * self.rel(r)

model = DistMult()
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)

for step in range(400):
    batch = train[torch.randint(0, N_TRAIN, (512,))]
    q = model.query(batch[:, 0], batch[:, 1])
    logits = q @ model.ent(batch[:, 2]).T
    loss = F.cross_entropy(logits, torch.arange(len(batch)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print(f"step {step + 1} in-batch loss {loss.item():.4f}")

# known tails of every (head, relation), for the filtered setting
known = {}
for h, r, t in torch.cat([train, test]).tolist():
    known.setdefault((h, r), []).append(t)

@torch.no_grad()
def evaluate(triples, batch_size=100):
    all_ranks = []
    for part in triples.split(batch_size):
        h, r, t = part.unbind(1)
        scores = model.query(h, r) @ model.ent.weight.T
        for i, (hh, rr, tt) in enumerate(part.tolist()):
            others = [e for e in known[(hh, rr)] if e != tt]
            scores[i, others] = -1e9
        gold = scores.gather(1, t[:, None])
        all_ranks.append((scores > gold).sum(1) + 1)
    return torch.cat(all_ranks)

ranks = evaluate(test).float()
print(f"filtered MRR {(1 / ranks).mean():.5f}  mean rank {ranks.mean():.1f}")
for k in (1, 10, 100, 1000):
    print(f"hits@{k:<5d} {(ranks <= k).float().mean():.4f}")

by_rel = torch.zeros(N_REL).index_add_(0, test[:, 1], ranks)
count = torch.bincount(test[:, 1], minlength=N_REL)
print("mean rank per relation:", [round(v, 1) for v in (by_rel / count).tolist()])
'''
