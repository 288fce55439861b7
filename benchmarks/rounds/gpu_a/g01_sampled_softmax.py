NAME = 'Trains a two-tower recommender with sampled softmax over 1.5 million items and popularity-drawn negatives.'
FAULT = 'The negatives are drawn on the host by rng.choice with an explicit probability vector, which validates and re-accumulates all 1.5 million probabilities at every step while the GPU waits.'
CURE = 'Accumulate the distribution once before the loop and draw by binary search in it (the very same draws).'
KIND = 'time'
FAULT_LINES = ['neg = torch.from_numpy(rng.choice(N_ITEMS, size=N_NEG, p=pop))']
FAULT_CALLS = ['choice', 'Generator.choice', 'numpy.random.Generator.choice']
FAULTY = r"""import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(0)
rng = np.random.default_rng(0)
torch.set_float32_matmul_precision('high')

N_USERS, N_ITEMS = 300_000, 1_500_000
DIM, BATCH, N_NEG = 64, 8192, 4096
STEPS = 260
N_LOG = 4_000_000

# long-tailed item popularity, smoothed as in word2vec
pop = 1.0 / np.arange(1, N_ITEMS + 1) ** 0.8
rng.shuffle(pop)
pop /= pop.sum()
log_q = torch.from_numpy(np.log(pop)).float().to(device)

# click log: (user, item), users cluster around items
log_items = torch.multinomial(log_q.exp(), N_LOG, replacement=True)
log_users = (log_items * 7919 + torch.randint(0, 40, (N_LOG,), device=device)) % N_USERS
n_test = 1024
test_u, test_i = log_users[:n_test], log_items[:n_test]
train_u, train_i = log_users[n_test:], log_items[n_test:]


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM)
        self.items = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.users.weight, std=0.05)
        nn.init.normal_(self.items.weight, std=0.05)
        self.tower = nn.Sequential(nn.Linear(DIM, 512), nn.GELU(), nn.Linear(512, 512),
                                   nn.GELU(), nn.Linear(512, DIM))

    def user_vec(self, u):
        e = self.users(u)
        return e + self.tower(e)


with torch.device(device):
    model = TwoTower()
opt = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
running = torch.zeros((), device=device)

for step in range(STEPS):
    rows = torch.randint(0, train_u.numel(), (BATCH,), device=device)
    u, pos = train_u[rows], train_i[rows]

    neg = torch.from_numpy(rng.choice(N_ITEMS, size=N_NEG, p=pop))
    if device == 'cuda':
        neg = neg.pin_memory().to(device, non_blocking=True)

    uv = model.user_vec(u)
    iv = model.items(torch.cat([pos, neg]))
    pv, nv = iv[:BATCH], iv[BATCH:]
    s_pos = (uv * pv).sum(-1, keepdim=True) - log_q[pos, None]
    s_neg = uv @ nv.t() - log_q[neg]
    s_neg = s_neg.masked_fill(pos[:, None] == neg[None], -1e9)     # accidental hits
    logits = torch.cat([s_pos, s_neg], dim=1)
    loss = F.cross_entropy(logits, torch.zeros(BATCH, dtype=torch.long, device=device))

    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    running += loss.detach()
    if (step + 1) % 100 == 0:
        print(f'step {step + 1}: loss {running.item() / 100:.4f}')
        running.zero_()

model.eval()
hits = torch.zeros((), device=device)
with torch.no_grad():
    for a in range(0, n_test, 256):
        scores = model.user_vec(test_u[a:a + 256]) @ model.items.weight.t()
        top = scores.topk(50, dim=1).indices
        hits += (top == test_i[a:a + 256, None]).any(1).sum()
print(f'loss {loss.item():.4f}  recall@50 {hits.item() / n_test:.4f}')
"""
CURED = r"""import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(0)
rng = np.random.default_rng(0)
torch.set_float32_matmul_precision('high')

N_USERS, N_ITEMS = 300_000, 1_500_000
DIM, BATCH, N_NEG = 64, 8192, 4096
STEPS = 260
N_LOG = 4_000_000

# long-tailed item popularity, smoothed as in word2vec
pop = 1.0 / np.arange(1, N_ITEMS + 1) ** 0.8
rng.shuffle(pop)
pop /= pop.sum()
cdf = pop.cumsum()
cdf /= cdf[-1]
log_q = torch.from_numpy(np.log(pop)).float().to(device)

# click log: (user, item), users cluster around items
log_items = torch.multinomial(log_q.exp(), N_LOG, replacement=True)
log_users = (log_items * 7919 + torch.randint(0, 40, (N_LOG,), device=device)) % N_USERS
n_test = 1024
test_u, test_i = log_users[:n_test], log_items[:n_test]
train_u, train_i = log_users[n_test:], log_items[n_test:]


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM)
        self.items = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.users.weight, std=0.05)
        nn.init.normal_(self.items.weight, std=0.05)
        self.tower = nn.Sequential(nn.Linear(DIM, 512), nn.GELU(), nn.Linear(512, 512),
                                   nn.GELU(), nn.Linear(512, DIM))

    def user_vec(self, u):
        e = self.users(u)
        return e + self.tower(e)


with torch.device(device):
    model = TwoTower()
opt = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
running = torch.zeros((), device=device)

for step in range(STEPS):
    rows = torch.randint(0, train_u.numel(), (BATCH,), device=device)
    u, pos = train_u[rows], train_i[rows]

    neg = torch.from_numpy(cdf.searchsorted(rng.random(N_NEG), side='right'))
    if device == 'cuda':
        neg = neg.pin_memory().to(device, non_blocking=True)

    uv = model.user_vec(u)
    iv = model.items(torch.cat([pos, neg]))
    pv, nv = iv[:BATCH], iv[BATCH:]
    s_pos = (uv * pv).sum(-1, keepdim=True) - log_q[pos, None]
    s_neg = uv @ nv.t() - log_q[neg]
    s_neg = s_neg.masked_fill(pos[:, None] == neg[None], -1e9)     # accidental hits
    logits = torch.cat([s_pos, s_neg], dim=1)
    loss = F.cross_entropy(logits, torch.zeros(BATCH, dtype=torch.long, device=device))

    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    running += loss.detach()
    if (step + 1) % 100 == 0:
        print(f'step {step + 1}: loss {running.item() / 100:.4f}')
        running.zero_()

model.eval()
hits = torch.zeros((), device=device)
with torch.no_grad():
    for a in range(0, n_test, 256):
        scores = model.user_vec(test_u[a:a + 256]) @ model.items.weight.t()
        top = scores.topk(50, dim=1).indices
        hits += (top == test_i[a:a + 256, None]).any(1).sum()
print(f'loss {loss.item():.4f}  recall@50 {hits.item() / n_test:.4f}')
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'N_USERS, N_ITEMS = 300_000, 1_500_000': 'N_USERS, N_ITEMS = 3_000, 15_000', 'DIM, BATCH, N_NEG = 64, 8192, 4096': 'DIM, BATCH, N_NEG = 64, 256, 128', 'STEPS = 260': 'STEPS = 5', 'N_LOG = 4_000_000': 'N_LOG = 40_000'}
