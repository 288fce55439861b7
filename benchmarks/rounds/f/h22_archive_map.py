NAME = 'h22_archive_map'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'The whole score matrix rows are fully sorted (argsort of 20000 per query) where one would expect topk; average precision, full nDCG and R-precision read the place of every relevant document down to the end of the ranking (hundreds per query), so the full order is needed, and it is made once per query block.'
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

# newspaper archive: documents and queries share latent subjects, graded relevance
N_DOCS, N_QUERIES, DIM, SUBJECTS = 20000, 2600, 64, 40

doc_subj = torch.randint(0, SUBJECTS, (N_DOCS,))
doc_era = torch.randint(0, 4, (N_DOCS,))
q_subj = torch.randint(0, SUBJECTS, (N_QUERIES,))
q_era = torch.randint(0, 4, (N_QUERIES,))
subj_vec, era_vec = torch.randn(SUBJECTS, 300), 0.6 * torch.randn(4, 300)
docs = subj_vec[doc_subj] + era_vec[doc_era] + 2.5 * torch.randn(N_DOCS, 300)
queries = subj_vec[q_subj] + era_vec[q_era] + 1.5 * torch.randn(N_QUERIES, 300)

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(300, 128), nn.ReLU(), nn.Linear(128, DIM))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)

q_tower, d_tower = Tower(), Tower()
opt = torch.optim.Adam([*q_tower.parameters(), *d_tower.parameters()], lr=1e-3)
by_subject = [torch.where(doc_subj == s)[0] for s in range(SUBJECTS)]

for step in range(1, 121):
    qi = torch.randint(0, 600, (128,))
    di = torch.stack([by_subject[s][torch.randint(0, len(by_subject[s]), (1,))[0]] for s in q_subj[qi].tolist()])
    sim = q_tower(queries[qi]) @ d_tower(docs[di]).T / 0.1
    same = q_subj[qi][:, None] == doc_subj[di][None]
    logp = F.log_softmax(sim, dim=1)
    loss = -(logp * same).sum(1).div(same.sum(1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print(f"step {step} contrastive loss {loss.item():.4f}")

def graded_relevance(q):
    same = q_subj[q][:, None] == doc_subj[None]
    era = q_era[q][:, None] == doc_era[None]
    return same.float() * (1 + 2 * era.float())

discount = 1.0 / torch.log2(torch.arange(N_DOCS).float() + 2)
positions = torch.arange(1, N_DOCS + 1).float()

@torch.no_grad()
def evaluate(block=50):
    d_emb = d_tower(docs)
    ap, ndcg, rprec = torch.zeros(3, N_QUERIES)
    for q in torch.arange(N_QUERIES).split(block):
        scores = q_tower(queries[q]) @ d_emb.T
        gain = graded_relevance(q)
        order = scores.argsort(dim=1, descending=True)
        ranked = gain.gather(1, order)
        rel = (ranked > 0).float()
        seen = rel.cumsum(1)
        n_rel = rel.sum(1)
        ap[q] = (seen / positions * rel).sum(1) / n_rel
        n3 = (gain == 3).sum(1, keepdim=True)
        level = torch.where(positions <= n3, 3.0, 1.0) * (positions <= n_rel[:, None])
        ndcg[q] = (ranked * discount).sum(1) / (level * discount).sum(1)
        rprec[q] = seen.gather(1, n_rel.long()[:, None] - 1).squeeze(1) / n_rel
    return ap, ndcg, rprec

ap, ndcg, rprec = evaluate()
for name, part in (("seen queries", slice(0, 600)), ("new queries", slice(600, None))):
    print(f"{name:13s} MAP {ap[part].mean():.4f}  nDCG {ndcg[part].mean():.4f}  R-prec {rprec[part].mean():.4f}")
worst = ap.argsort()[:5]
print("hardest queries:", [(int(i), round(ap[i].item(), 3)) for i in worst])
'''
