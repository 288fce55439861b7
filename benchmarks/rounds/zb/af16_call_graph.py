NAME = "Learns subscriber embeddings of a synthetic phone-call graph with negative sampling and tests them on held-out calls."
FAULT = "The embedding tables yield dense gradients, so each Adagrad step fills, squares and updates tables of all subscribers although a batch touches a few of the rows."
CURE = "Build both nn.Embedding tables with sparse=True, so that backward and Adagrad work on the touched rows only."
KIND = "time"
FAULT_LINES = ["        self.caller = nn.Embedding(n, dim)", "        self.callee = nn.Embedding(n, dim)", "    opt.step()"]
FAULT_CALLS = ["Adagrad", "step", "embedding_dense_backward", "addcmul_", "addcdiv_", "sqrt", "zeros", "fill_"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

n_subscribers = 100_000
n_towns = 300
n_calls = 400_000


def simulate_calls():
    town = rng.integers(0, n_towns, n_subscribers)
    by_town = np.argsort(town, kind="stable")
    start = np.searchsorted(town[by_town], np.arange(n_towns + 1))
    activity = rng.pareto(2.0, n_subscribers) + 0.2
    src = rng.choice(n_subscribers, n_calls, p=activity / activity.sum())
    local = rng.random(n_calls) < 0.85
    t = town[src]
    u = rng.random(n_calls)
    near = by_town[(start[t] + u * (start[t + 1] - start[t])).astype(int)]
    dst = np.where(local, near, rng.integers(0, n_subscribers, n_calls))
    keep = src != dst
    return torch.from_numpy(np.stack([src[keep], dst[keep]], 1)), town


class CallEmbedding(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.caller = nn.Embedding(n, dim)
        self.callee = nn.Embedding(n, dim)
        nn.init.normal_(self.caller.weight, std=0.1)
        nn.init.normal_(self.callee.weight, std=0.1)

    def forward(self, src, dst, neg):
        a = self.caller(src)
        pos = (a * self.callee(dst)).sum(-1)
        bad = torch.bmm(self.callee(neg), a.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos).mean() + F.logsigmoid(-bad).sum(1).mean())

    @torch.no_grad()
    def score(self, pairs):
        return (self.caller(pairs[:, 0]) * self.callee(pairs[:, 1])).sum(-1)


calls, town = simulate_calls()
calls = calls[torch.randperm(len(calls))]
held, calls = calls[:20_000], calls[20_000:]
print("calls:", len(calls), " towns:", len(np.unique(town)))

model = CallEmbedding(n_subscribers, 32)
opt = torch.optim.Adagrad(model.parameters(), lr=0.15)

batch, k = 2048, 5
seen = []
for step in range(280):
    idx = torch.randint(0, len(calls), (batch,))
    src, dst = calls[idx].unbind(1)
    neg = torch.randint(0, n_subscribers, (batch, k))
    loss = model(src, dst, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item())
    if (step + 1) % 70 == 0:
        print(f"step {step + 1:4d}  loss {np.mean(seen[-70:]):.3f}")

fake = torch.stack([held[:, 0], torch.randint(0, n_subscribers, (len(held),))], 1)
scores = torch.cat([model.score(held), model.score(fake)]).numpy()
truth = np.r_[np.ones(len(held)), np.zeros(len(fake))]
print(f"held-out AUC {roc_auc_score(truth, scores):.3f}")
'''
CURED = FAULTY.replace("nn.Embedding(n, dim)", "nn.Embedding(n, dim, sparse=True)")
