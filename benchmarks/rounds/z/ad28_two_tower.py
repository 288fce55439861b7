NAME = "Trains a two-tower retrieval model with in-batch negatives and reports recall among sampled candidates."
FAULT = "The big embedding tables yield dense gradients, so every step fills and applies a gradient of the whole table for the few hundred rows that were looked up, although the optimizer is plain SGD."
CURE = "Create the two tables with sparse=True; plain SGD then updates only the rows used, with the same result."
KIND = "time"
FAULT_LINES = ["        self.user = nn.Embedding(n_users, dim)", "        self.item = nn.Embedding(n_items, dim)", "    opt.step()", "    loss.backward()"]
FAULT_CALLS = ["embedding_dense_backward", "EmbeddingBackward0", "step", "_foreach_add_", "add_", "zero_"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

n_users, n_items, dim = 150_000, 300_000, 32
n_events = 400_000
BATCH, STEPS = 512, 240

# interactions: users like items of their own "taste" group, popular ones first
groups = 50
user_group = rng.integers(0, groups, n_users)
u = rng.integers(0, n_users, n_events)
rank = np.minimum(rng.zipf(1.3, n_events), n_items // groups) - 1
i = rank * groups + user_group[u]
events = torch.from_numpy(np.stack([u, i], axis=1))
pop = torch.bincount(events[:, 1], minlength=n_items).float()
log_q = torch.log((pop + 1) / (pop + 1).sum())


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.user_mlp = nn.Sequential(nn.Linear(dim, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, dim))
        self.item_mlp = nn.Sequential(nn.Linear(dim, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, dim))

    def users(self, idx):
        return F.normalize(self.user_mlp(self.user(idx)), dim=1)

    def items(self, idx):
        return F.normalize(self.item_mlp(self.item(idx)), dim=1)


model = TwoTower()
opt = torch.optim.SGD(model.parameters(), lr=0.02)
test = events[-4000:]
train = events[:-4000]


@torch.no_grad()
def recall_at(k=10, n_neg=500):
    cand = torch.randint(0, n_items, (n_neg,))
    neg = model.items(cand)
    hits = 0
    for b in range(0, len(test), 1000):
        q = model.users(test[b:b + 1000, 0])
        pos = (q * model.items(test[b:b + 1000, 1])).sum(1, keepdim=True)
        better = (q @ neg.T > pos).sum(1)
        hits += (better < k).sum().item()
    return hits / len(test)


history = []
for step in range(STEPS):
    pick = torch.randint(0, len(train), (BATCH,))
    uu, ii = train[pick, 0], train[pick, 1]
    scores = model.users(uu) @ model.items(ii).T / 0.1
    scores = scores - log_q[ii]
    loss = F.cross_entropy(scores, torch.arange(BATCH))
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
    if (step + 1) % 80 == 0:
        print(f"step {step + 1:4d}  loss {np.mean(history[-80:]):.2f}  recall@10 {recall_at():.1f}")
'''
CURED = FAULTY.replace("nn.Embedding(n_users, dim)", "nn.Embedding(n_users, dim, sparse=True)").replace("nn.Embedding(n_items, dim)", "nn.Embedding(n_items, dim, sparse=True)")
