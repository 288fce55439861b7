NAME = 'e22_hard_negatives'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
# Question -> passage retrieval with mined hard negatives (the index is rebuilt each round)
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(127)
torch.set_num_threads(1)

N_PASS, N_Q, BOW, DIM = 6000, 1500, 700, 128

topic_words = torch.rand(60, BOW).pow(8)
mix = torch.zeros(N_PASS, 60).scatter_(1, torch.randint(0, 60, (N_PASS, 3)), 1.0)
passages = torch.poisson(mix @ topic_words * 6).log1p()
gold = torch.randperm(N_PASS)[:N_Q]
questions = (passages[gold] * (torch.rand(N_Q, BOW) < 0.25) + 0.3 * torch.rand(N_Q, BOW).pow(20)).float()
train_q, test_q = torch.arange(0, 1200), torch.arange(1200, N_Q)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BOW, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, DIM))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


enc = Encoder()
opt = torch.optim.AdamW(enc.parameters(), lr=4e-4)


@torch.no_grad()
def build_index():
    return torch.cat([enc(chunk) for chunk in passages.split(500)])


@torch.no_grad()
def mine(index, q_ids, depth=20, take=4):
    """The best-scored wrong passages for each question."""
    scores = enc(questions[q_ids]) @ index.T
    scores.scatter_(1, gold[q_ids][:, None], -1.0)
    best = scores.topk(depth, dim=1).indices
    pick = torch.rand(len(q_ids), depth).topk(take, dim=1).indices
    return best.gather(1, pick)


@torch.no_grad()
def recall(index, k=10):
    scores = enc(questions[test_q]) @ index.T
    return (scores.topk(k, dim=1).indices == gold[test_q][:, None]).any(1).float().mean().item()


index = build_index()
print(f"before training: recall@10 {recall(index):.3f}")
for rnd in range(7):
    negatives = mine(index, train_q)
    for rows in torch.randperm(len(train_q)).split(100):
        q = enc(questions[train_q[rows]])
        pos = gold[train_q[rows]]
        cand = torch.cat([pos, negatives[rows].flatten()])
        logits = q @ enc(passages[cand]).T / 0.05
        loss = F.cross_entropy(logits, torch.arange(len(rows)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    index = build_index()                    # stale embeddings would mine easy negatives
    print(f"round {rnd}: loss {loss.item():.4f}  recall@10 {recall(index):.3f}")
'''
