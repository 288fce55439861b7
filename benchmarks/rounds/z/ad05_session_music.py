NAME = "Trains a GRU that recommends the next track of a listening session with sampled negatives over a large track table."
FAULT = "The track embedding yields a dense gradient, so every step zeroes, fills and applies Adagrad to the whole table though a batch touches only a small part of its rows."
CURE = "Create the embedding with sparse=True; Adagrad then updates only the rows of the batch (same result)."
KIND = "time"
FAULT_LINES = ["self.tracks = nn.Embedding(n_tracks, dim)", "optimizer.step()",
               "optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)", "loss.backward()"]
FAULT_CALLS = ["step", "Optimizer.step", "_foreach_addcmul_", "_foreach_addcdiv_", "addcmul_", "addcdiv_", "sqrt", "_foreach_sqrt",
               "embedding_dense_backward", "EmbeddingBackward0", "zero_", "add_", "run_backward", "adagrad", "_single_tensor_adagrad", "_multi_tensor_adagrad"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

n_tracks, n_sessions, session_len = 150_000, 4_160, 20
n_genres = 150
tracks_per_genre = n_tracks // n_genres

# each session stays mostly within one genre and walks to nearby tracks
genre = torch.randint(0, n_genres, (n_sessions, 1))
walk = torch.randint(-6, 7, (n_sessions, session_len + 1)).cumsum(1) + torch.randint(0, tracks_per_genre, (n_sessions, 1))
sessions = genre * tracks_per_genre + walk % tracks_per_genre
hop = torch.rand(sessions.shape) < 0.05
sessions[hop] = torch.randint(0, n_tracks, (int(hop.sum()),))


class NextTrack(nn.Module):
    def __init__(self, n_tracks, dim, hidden):
        super().__init__()
        self.tracks = nn.Embedding(n_tracks, dim)
        nn.init.normal_(self.tracks.weight, std=0.1)
        self.gru = nn.GRU(dim, hidden, num_layers=1, batch_first=True)
        self.project = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def forward(self, history):
        states, _ = self.gru(self.tracks(history))
        return self.project(states)

    def score(self, context, candidates):
        return torch.einsum("btd,btkd->btk", context, self.tracks(candidates))


def batch_loss(model, seq, n_neg=10):
    history, following = seq[:, :-1], seq[:, 1:]
    context = model(history)
    negatives = torch.randint(0, n_tracks, following.shape + (n_neg,))
    candidates = torch.cat([following.unsqueeze(-1), negatives], dim=-1)
    scores = model.score(context, candidates)
    return F.cross_entropy(scores.flatten(0, 1), torch.zeros(following.numel(), dtype=torch.long))


train, test = sessions[:-256], sessions[-256:]
model = NextTrack(n_tracks, dim=64, hidden=112)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)

for epoch in range(2):
    total, seen = 0.0, 0
    for rows in torch.randperm(len(train)).split(64):
        loss = batch_loss(model, train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
        seen += len(rows)
    print(f"epoch {epoch + 1}: sampled softmax loss {total / seen:.3f}")

model.eval()
with torch.no_grad():
    context = model(test[:, :-1])[:, -1]
    ranks = []
    for ctx, truth in zip(context.split(64), test[:, -1].split(64)):
        scores = ctx @ model.tracks.weight.T
        own = scores.gather(1, truth[:, None])
        ranks.append((scores > own).sum(1))
ranks = torch.cat(ranks).float()
print(f"hit@500 {(ranks < 500).float().mean().item():.2f}")
'''
CURED = FAULTY.replace("self.tracks = nn.Embedding(n_tracks, dim)", "self.tracks = nn.Embedding(n_tracks, dim, sparse=True)")
