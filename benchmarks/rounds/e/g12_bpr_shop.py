NAME = 'g12_bpr_shop'
FAULT = 'The big embedding tables produce dense gradients, so each step zeroes, fills and applies a gradient of the whole table although only a few thousand rows are touched.'
CURE = 'Make the embeddings with sparse=True (plain SGD handles the sparse gradients and gives the same result).'
KIND = 'time'
FAULT_LINES = [
    '        self.user = nn.Embedding(n_users, k)',
    '        self.item = nn.Embedding(n_items, k)',
    '    opt.step()',
]
FAULT_CALLS = ['torch.optim.SGD.step', 'torch.Tensor.backward', 'aten::embedding_dense_backward', 'aten::_foreach_add_', 'aten::add_']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)

# --- synthetic shop ---------------------------------------------------------
n_users, n_items, k = 150_000, 60_000, 48
taste_u = torch.randint(0, 20, (n_users,))
taste_i = torch.randint(0, 20, (n_items,))
items_of = [torch.nonzero(taste_i == g).squeeze(1) for g in range(20)]

# interactions: mostly inside of one's own taste group
n_int = 400_000
u = torch.randint(0, n_users, (n_int,))
pos = torch.empty(n_int, dtype=torch.long)
for g in range(20):
    m = taste_u[u] == g
    pool = items_of[g]
    pos[m] = pool[torch.randint(0, len(pool), (int(m.sum()),))]
noise = torch.rand(n_int) < 0.1
pos[noise] = torch.randint(0, n_items, (int(noise.sum()),))


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, k)
        self.item = nn.Embedding(n_items, k)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)

    def forward(self, u, i, j):
        pu = self.user(u)
        return (pu * (self.item(i) - self.item(j))).sum(1), pu


model = BPR()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
batch, seen = 2048, []
for step in range(260):
    b = torch.randint(0, n_int, (batch,))
    neg = torch.randint(0, n_items, (batch,))
    diff, pu = model(u[b], pos[b], neg)
    loss = F.softplus(-diff).sum() + 1e-3 * pu.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item() / batch)
    if (step + 1) % 65 == 0:
        print(f"{step + 1:4d}  loss {sum(seen[-65:]) / 65:.5f}")

# ---------------------------------------------------------------------------
# evaluation: sampled ranking, 1 logged item against 99 random ones, and some
# sanity checks of the learned tables
# ---------------------------------------------------------------------------
@torch.no_grad()
def sampled_ranks(users, items, n_neg=99):
    cand = torch.cat([items[:, None], torch.randint(0, n_items, (len(users), n_neg))], 1)
    s = torch.einsum("uk,uck->uc", model.user(users), model.item(cand))
    return (s[:, 1:] > s[:, :1]).sum(1)


def report(tag, ranks):
    hr = (ranks < 10).float().mean().item()
    ndcg = torch.where(ranks < 10, 1 / torch.log2(ranks + 2.0), torch.zeros(())).mean().item()
    print(f"{tag:12s} HR@10 {hr:.3f}  NDCG@10 {ndcg:.3f}")


pick = torch.randperm(n_int)[:4000]
report("all", sampled_ranks(u[pick], pos[pick]))
clean = pick[~noise[pick]]
report("own taste", sampled_ranks(u[clean], pos[clean]))
odd = pick[noise[pick]]
report("off taste", sampled_ranks(u[odd], pos[odd]))

with torch.no_grad():
    pop = torch.bincount(pos, minlength=n_items).float()
    size = model.item.weight.norm(dim=1)
    print("item norm: clicked %.3f, never clicked %.3f" % (size[pop > 0].mean().item(), size[pop == 0].mean().item()))
    d, _ = model(u[:5000], pos[:5000], torch.randint(0, n_items, (5000,)))
print("pairwise accuracy on logged clicks %.3f" % (d > 0).float().mean().item())
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(9)

# --- synthetic shop ---------------------------------------------------------
n_users, n_items, k = 150_000, 60_000, 48
taste_u = torch.randint(0, 20, (n_users,))
taste_i = torch.randint(0, 20, (n_items,))
items_of = [torch.nonzero(taste_i == g).squeeze(1) for g in range(20)]

# interactions: mostly inside of one's own taste group
n_int = 400_000
u = torch.randint(0, n_users, (n_int,))
pos = torch.empty(n_int, dtype=torch.long)
for g in range(20):
    m = taste_u[u] == g
    pool = items_of[g]
    pos[m] = pool[torch.randint(0, len(pool), (int(m.sum()),))]
noise = torch.rand(n_int) < 0.1
pos[noise] = torch.randint(0, n_items, (int(noise.sum()),))


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, k, sparse=True)
        self.item = nn.Embedding(n_items, k, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)

    def forward(self, u, i, j):
        pu = self.user(u)
        return (pu * (self.item(i) - self.item(j))).sum(1), pu


model = BPR()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
batch, seen = 2048, []
for step in range(260):
    b = torch.randint(0, n_int, (batch,))
    neg = torch.randint(0, n_items, (batch,))
    diff, pu = model(u[b], pos[b], neg)
    loss = F.softplus(-diff).sum() + 1e-3 * pu.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(loss.item() / batch)
    if (step + 1) % 65 == 0:
        print(f"{step + 1:4d}  loss {sum(seen[-65:]) / 65:.5f}")

# ---------------------------------------------------------------------------
# evaluation: sampled ranking, 1 logged item against 99 random ones, and some
# sanity checks of the learned tables
# ---------------------------------------------------------------------------
@torch.no_grad()
def sampled_ranks(users, items, n_neg=99):
    cand = torch.cat([items[:, None], torch.randint(0, n_items, (len(users), n_neg))], 1)
    s = torch.einsum("uk,uck->uc", model.user(users), model.item(cand))
    return (s[:, 1:] > s[:, :1]).sum(1)


def report(tag, ranks):
    hr = (ranks < 10).float().mean().item()
    ndcg = torch.where(ranks < 10, 1 / torch.log2(ranks + 2.0), torch.zeros(())).mean().item()
    print(f"{tag:12s} HR@10 {hr:.3f}  NDCG@10 {ndcg:.3f}")


pick = torch.randperm(n_int)[:4000]
report("all", sampled_ranks(u[pick], pos[pick]))
clean = pick[~noise[pick]]
report("own taste", sampled_ranks(u[clean], pos[clean]))
odd = pick[noise[pick]]
report("off taste", sampled_ranks(u[odd], pos[odd]))

with torch.no_grad():
    pop = torch.bincount(pos, minlength=n_items).float()
    size = model.item.weight.norm(dim=1)
    print("item norm: clicked %.3f, never clicked %.3f" % (size[pop > 0].mean().item(), size[pop == 0].mean().item()))
    d, _ = model(u[:5000], pos[:5000], torch.randint(0, n_items, (5000,)))
print("pairwise accuracy on logged clicks %.3f" % (d > 0).float().mean().item())
'''
