NAME = 'h11_playlist_bpr'
FAULT = 'Two big embedding tables are trained with dense gradients under Adagrad: each step of 2048 triples zero-fills and updates all 300k rows.'
CURE = 'nn.Embedding(..., sparse=True): Adagrad takes sparse gradients and gives the same updates (rows without gradient do not change).'
KIND = 'time'
FAULT_LINES = [
    '        self.user = nn.Embedding(N_USERS, dim)',
    '        self.track = nn.Embedding(N_TRACKS, dim)',
    '    opt.step()',
    'opt = torch.optim.Adagrad(model.parameters(), lr=0.1)',
    '    loss.backward()',
]
FAULT_CALLS = ['aten::embedding_dense_backward', 'torch.optim.Adagrad.step', 'opt.step', 'aten::addcmul_', 'aten::addcdiv_', 'aten::sqrt', 'aten::_foreach_addcdiv_', 'aten::_foreach_sqrt', 'aten::zero_']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(99)

# implicit feedback: users listen to tracks near their taste cluster
N_USERS, N_TRACKS, N_EVENTS = 120_000, 180_000, 600_000
CLUSTERS = 50

users = (torch.rand(N_EVENTS) ** 5 * N_USERS).long()
cluster = users % CLUSTERS
pop = torch.distributions.Beta(0.2, 3.0).sample((N_EVENTS,))
tracks = ((pop * (N_TRACKS // CLUSTERS)).long() * CLUSTERS + cluster).clamp(max=N_TRACKS - 1)

perm = torch.randperm(N_EVENTS)
train_idx, test_idx = perm[:-4000], perm[-4000:]

class BPR(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim)
        self.track = nn.Embedding(N_TRACKS, dim)
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.track.weight, std=0.05)

    def score(self, u, i):
        return (self.user(u) * self.track(i)).sum(-1)

    def forward(self, u, pos, neg):
        return self.score(u, pos), self.score(u, neg)

def batches(idx, size, n):
    for _ in range(n):
        pick = idx[torch.randint(0, len(idx), (size,))]
        yield users[pick], tracks[pick], torch.randint(0, N_TRACKS, (size,))

@torch.no_grad()
def auc(model, idx, n_neg=50):
    u, pos = users[idx], tracks[idx]
    neg = torch.randint(0, N_TRACKS, (len(idx), n_neg))
    p = model.score(u, pos)
    q = (model.user(u)[:, None] * model.track(neg)).sum(-1)
    return (p[:, None] > q).float().mean().item()

model = BPR()
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
print("parameters:", sum(p.numel() for p in model.parameters()))

running = []
for step, (u, pos, neg) in enumerate(batches(train_idx, 2048, 180), 1):
    s_pos, s_neg = model(u, pos, neg)
    loss = -F.logsigmoid(s_pos - s_neg).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running.append(loss.item())
    if step % 60 == 0:
        print(f"step {step:4d}  bpr {sum(running[-60:]) / 60:.4f}  test auc {auc(model, test_idx):.4f}")

with torch.no_grad():
    probe = test_idx[:5]
    scores = model.user(users[probe]) @ model.track.weight.T
    top = scores.topk(5, dim=1).indices
for u, row in zip(users[probe].tolist(), top.tolist()):
    print(f"user {u:6d} (cluster {u % CLUSTERS:2d}) -> clusters {[t % CLUSTERS for t in row]}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(99)

# implicit feedback: users listen to tracks near their taste cluster
N_USERS, N_TRACKS, N_EVENTS = 120_000, 180_000, 600_000
CLUSTERS = 50

users = (torch.rand(N_EVENTS) ** 5 * N_USERS).long()
cluster = users % CLUSTERS
pop = torch.distributions.Beta(0.2, 3.0).sample((N_EVENTS,))
tracks = ((pop * (N_TRACKS // CLUSTERS)).long() * CLUSTERS + cluster).clamp(max=N_TRACKS - 1)

perm = torch.randperm(N_EVENTS)
train_idx, test_idx = perm[:-4000], perm[-4000:]

class BPR(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim, sparse=True)
        self.track = nn.Embedding(N_TRACKS, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.track.weight, std=0.05)

    def score(self, u, i):
        return (self.user(u) * self.track(i)).sum(-1)

    def forward(self, u, pos, neg):
        return self.score(u, pos), self.score(u, neg)

def batches(idx, size, n):
    for _ in range(n):
        pick = idx[torch.randint(0, len(idx), (size,))]
        yield users[pick], tracks[pick], torch.randint(0, N_TRACKS, (size,))

@torch.no_grad()
def auc(model, idx, n_neg=50):
    u, pos = users[idx], tracks[idx]
    neg = torch.randint(0, N_TRACKS, (len(idx), n_neg))
    p = model.score(u, pos)
    q = (model.user(u)[:, None] * model.track(neg)).sum(-1)
    return (p[:, None] > q).float().mean().item()

model = BPR()
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
print("parameters:", sum(p.numel() for p in model.parameters()))

running = []
for step, (u, pos, neg) in enumerate(batches(train_idx, 2048, 180), 1):
    s_pos, s_neg = model(u, pos, neg)
    loss = -F.logsigmoid(s_pos - s_neg).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running.append(loss.item())
    if step % 60 == 0:
        print(f"step {step:4d}  bpr {sum(running[-60:]) / 60:.4f}  test auc {auc(model, test_idx):.4f}")

with torch.no_grad():
    probe = test_idx[:5]
    scores = model.user(users[probe]) @ model.track.weight.T
    top = scores.topk(5, dim=1).indices
for u, row in zip(users[probe].tolist(), top.tolist()):
    print(f"user {u:6d} (cluster {u % CLUSTERS:2d}) -> clusters {[t % CLUSTERS for t in row]}")
'''
