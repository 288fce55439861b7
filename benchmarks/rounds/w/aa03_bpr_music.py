NAME = "Fits a BPR matrix factorisation to synthetic music listening logs and reports recall@20."
FAULT = "Each step touches some hundreds of rows, but the embeddings give dense gradients, so whole user and track tables are zero-filled and swept by SGD at every step."
CURE = "Create the embeddings with sparse=True (plain SGD takes sparse gradients with the same result)."
KIND = "time"
FAULT_LINES = [
    "        self.user = nn.Embedding(n_users, dim)",
    "        self.track = nn.Embedding(n_tracks, dim)",
    "        self.bias = nn.Embedding(n_tracks, 1)",
    "    loss.backward()",
    "    optimizer.step()",
]
FAULT_CALLS = ["embedding_dense_backward", "EmbeddingBackward0", "add_", "zero_", "fill_", "step", "SGD.step", "Optimizer.step#SGD.step", "backward", "embedding"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

N_USERS, N_TRACKS, N_PLAYS = 30000, 50000, 300_000

# listeners and tracks belong to one of 40 genres; most plays stay inside the genre
user_genre = np.random.randint(0, 40, N_USERS)
track_genre = np.sort(np.random.randint(0, 40, N_TRACKS))
first = np.searchsorted(track_genre, np.arange(40))
count = np.bincount(track_genre, minlength=40)
u = np.random.randint(0, N_USERS, N_PLAYS)
inside = np.random.rand(N_PLAYS) < 0.85
g = user_genre[u]
skewed = (np.random.rand(N_PLAYS) ** 3 * count[g]).astype(int) + first[g]
plays = pd.DataFrame({"user": u, "track": np.where(inside, skewed, np.random.randint(0, N_TRACKS, N_PLAYS))})
plays = plays.drop_duplicates().reset_index(drop=True)
plays["rank"] = plays.groupby("user").cumcount()
test = plays[plays["rank"] == 0]
train = plays[plays["rank"] > 0]
print(len(train), "train plays,", len(test), "held out")


class BPR(nn.Module):
    def __init__(self, n_users, n_tracks, dim=64):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.track = nn.Embedding(n_tracks, dim)
        self.bias = nn.Embedding(n_tracks, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.track.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, pos, neg):
        pu, qp, qn = self.user(u), self.track(pos), self.track(neg)
        diff = (pu * (qp - qn)).sum(-1) + (self.bias(pos) - self.bias(neg)).squeeze(-1)
        reg = pu.pow(2).sum(-1) + qp.pow(2).sum(-1) + qn.pow(2).sum(-1)
        return diff, reg


model = BPR(N_USERS, N_TRACKS)
optimizer = torch.optim.SGD(model.parameters(), lr=20.0)
users_t = torch.tensor(train["user"].to_numpy())
tracks_t = torch.tensor(train["track"].to_numpy())

BATCH = 1024
losses = []
perm = torch.randperm(len(users_t))
cursor = 0
for step in range(1, 701):
    if cursor + BATCH > len(perm):
        perm, cursor = torch.randperm(len(users_t)), 0
    idx = perm[cursor:cursor + BATCH]
    cursor += BATCH
    negatives = torch.randint(0, N_TRACKS, (BATCH,))
    diff, reg = model(users_t[idx], tracks_t[idx], negatives)
    loss = -F.logsigmoid(diff).mean() + 1e-4 * reg.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 100 == 0:
        print(f"step {step:4d}  bpr loss {np.mean(losses[-100:]):.4f}")

with torch.no_grad():
    hits = 0
    sample = test.iloc[:1500]
    tu = torch.tensor(sample["user"].to_numpy())
    tt = torch.tensor(sample["track"].to_numpy())
    for chunk_u, chunk_t in zip(tu.split(500), tt.split(500)):
        scores = model.user(chunk_u) @ model.track.weight.T + model.bias.weight.T
        top = scores.topk(20, dim=1).indices
        hits += (top == chunk_t[:, None]).any(1).sum().item()
print(f"recall@20: {hits / len(sample):.4f}")
'''
CURED = FAULTY.replace("nn.Embedding(n_users, dim)", "nn.Embedding(n_users, dim, sparse=True)").replace(
    "nn.Embedding(n_tracks, dim)", "nn.Embedding(n_tracks, dim, sparse=True)").replace(
    "nn.Embedding(n_tracks, 1)", "nn.Embedding(n_tracks, 1, sparse=True)")
