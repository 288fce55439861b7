NAME = 'Embeddings of server log sessions by a GRU, then clustering of the sessions'
FAULT = 'The list keeps out[:, -1], a view; each view keeps the whole (batch, time, hidden) output of its batch in memory until the end'
CURE = 'Store a copy of the last state: out[:, -1].clone()'
KIND = 'memory'
FAULT_LINES = ['vecs.append(out[:, -1])', 'vecs = []', 'out, _ = self.gru(self.emb(x))']
FAULT_CALLS = ['vecs.append', 'self.gru', 'GRU']
FAULTY = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

N_EVENT, LEN, N_KIND = 80, 160, 6
N_SESSION = 9000


def sample_sessions(n):
    "Markov chains over event codes, one transition table per kind of session."
    tables = [rng.dirichlet(np.full(N_EVENT, 0.05), size=N_EVENT).cumsum(1) for _ in range(N_KIND)]
    kind = rng.integers(0, N_KIND, n)
    seq = np.zeros((n, LEN), dtype=np.int64)
    seq[:, 0] = rng.integers(0, N_EVENT, n)
    for t in range(1, LEN):
        u = rng.random(n)
        for k in range(N_KIND):
            m = kind == k
            cum = tables[k][seq[m, t - 1]]
            seq[m, t] = np.minimum((cum < u[m, None]).sum(1), N_EVENT - 1)
    return torch.from_numpy(seq), kind


class SessionEncoder(nn.Module):
    def __init__(self, n_event, dim=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(n_event, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.next_event = nn.Linear(hidden, n_event)

    def forward(self, x):
        out, _ = self.gru(self.emb(x))
        return out


sessions, kind = sample_sessions(N_SESSION)
enc = SessionEncoder(N_EVENT)
opt = torch.optim.Adam(enc.parameters(), lr=3e-3)

# self-supervised: predict the next event on short snippets
for step in range(40):
    pick = torch.randint(0, N_SESSION, (64,))
    x = sessions[pick, :33]
    logits = enc.next_event(enc(x[:, :-1]))
    loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(f"step {step + 1}  loss {loss.item():.3f}")


def embed(model, seqs, batch=100):
    model.eval()
    vecs = []
    with torch.no_grad():
        for part in seqs.split(batch):
            out = model(part)
            vecs.append(out[:, -1])
    return torch.cat(vecs)


Z = embed(enc, sessions)
print("embedding matrix", tuple(Z.shape), "mean norm", round(Z.norm(dim=1).mean().item(), 4))
Z = F.normalize(Z, dim=1).numpy()
labels = KMeans(n_clusters=N_KIND, n_init=2, random_state=0).fit_predict(Z)
print("NMI with the true kinds", round(normalized_mutual_info_score(kind, labels), 3))
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

N_EVENT, LEN, N_KIND = 80, 160, 6
N_SESSION = 9000


def sample_sessions(n):
    "Markov chains over event codes, one transition table per kind of session."
    tables = [rng.dirichlet(np.full(N_EVENT, 0.05), size=N_EVENT).cumsum(1) for _ in range(N_KIND)]
    kind = rng.integers(0, N_KIND, n)
    seq = np.zeros((n, LEN), dtype=np.int64)
    seq[:, 0] = rng.integers(0, N_EVENT, n)
    for t in range(1, LEN):
        u = rng.random(n)
        for k in range(N_KIND):
            m = kind == k
            cum = tables[k][seq[m, t - 1]]
            seq[m, t] = np.minimum((cum < u[m, None]).sum(1), N_EVENT - 1)
    return torch.from_numpy(seq), kind


class SessionEncoder(nn.Module):
    def __init__(self, n_event, dim=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(n_event, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.next_event = nn.Linear(hidden, n_event)

    def forward(self, x):
        out, _ = self.gru(self.emb(x))
        return out


sessions, kind = sample_sessions(N_SESSION)
enc = SessionEncoder(N_EVENT)
opt = torch.optim.Adam(enc.parameters(), lr=3e-3)

# self-supervised: predict the next event on short snippets
for step in range(40):
    pick = torch.randint(0, N_SESSION, (64,))
    x = sessions[pick, :33]
    logits = enc.next_event(enc(x[:, :-1]))
    loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(f"step {step + 1}  loss {loss.item():.3f}")


def embed(model, seqs, batch=100):
    model.eval()
    vecs = []
    with torch.no_grad():
        for part in seqs.split(batch):
            out = model(part)
            vecs.append(out[:, -1].clone())
    return torch.cat(vecs)


Z = embed(enc, sessions)
print("embedding matrix", tuple(Z.shape), "mean norm", round(Z.norm(dim=1).mean().item(), 4))
Z = F.normalize(Z, dim=1).numpy()
labels = KMeans(n_clusters=N_KIND, n_init=2, random_state=0).fit_predict(Z)
print("NMI with the true kinds", round(normalized_mutual_info_score(kind, labels), 3))
"""
