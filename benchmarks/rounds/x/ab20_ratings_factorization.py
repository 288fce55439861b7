NAME = "Factorises a large sparse ratings matrix with user and item embeddings trained by plain SGD."
FAULT = "The embedding tables produce dense gradients, so each small batch zeroes, fills and applies a gradient as large as the whole table."
CURE = "Create the embeddings with sparse=True, which plain SGD supports."
KIND = "time"
FAULT_LINES = ["self.u = nn.Embedding(n_users, k)", "self.v = nn.Embedding(n_items, k)"]
FAULT_CALLS = ["embedding_dense_backward", "EmbeddingBackward0", "SGD.step", "step", "add_", "_single_tensor_sgd", "zero_", "backward"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
rng = np.random.default_rng(1)

N_USERS, N_ITEMS, N_RATINGS, RANK = 100_000, 25_000, 700_000, 24

# popular items get most of the ratings
pop = 1.0 / np.arange(1, N_ITEMS + 1) ** 0.7
users = rng.integers(0, N_USERS, N_RATINGS)
items = rng.choice(N_ITEMS, N_RATINGS, p=pop / pop.sum())
pu = rng.normal(size=(N_USERS, 4)) * 0.5
qi = rng.normal(size=(N_ITEMS, 4)) * 0.5
stars = 3.5 + (pu[users] * qi[items]).sum(1) + 0.4 * rng.normal(size=N_USERS)[users] + 0.3 * rng.normal(size=N_RATINGS)
stars = np.clip(stars, 1, 5).astype(np.float32)

users = torch.from_numpy(users)
items = torch.from_numpy(items)
stars = torch.from_numpy(stars)
n_test = 50_000
train = slice(0, N_RATINGS - n_test)
test = slice(N_RATINGS - n_test, N_RATINGS)


class MF(nn.Module):
    def __init__(self, n_users, n_items, k):
        super().__init__()
        self.u = nn.Embedding(n_users, k)
        self.v = nn.Embedding(n_items, k)
        self.bu = nn.Embedding(n_users, 1)
        self.bv = nn.Embedding(n_items, 1)
        self.register_buffer("mu", torch.tensor(0.0))
        for e in (self.u, self.v):
            nn.init.normal_(e.weight, std=0.3)
        for e in (self.bu, self.bv):
            nn.init.zeros_(e.weight)

    def forward(self, i, j):
        dot = (self.u(i) * self.v(j)).sum(1)
        return self.mu + self.bu(i).squeeze(1) + self.bv(j).squeeze(1) + dot


def rmse(model, part):
    with torch.no_grad():
        err = model(users[part], items[part]) - stars[part]
    return err.pow(2).mean().sqrt().item()


model = MF(N_USERS, N_ITEMS, RANK)
model.mu.fill_(stars[train].mean().item())
opt = torch.optim.SGD(model.parameters(), lr=1.0)
BATCH, EPOCHS = 1024, 3
n_train = N_RATINGS - n_test
print(f"before: test rmse {rmse(model, test):.4f}")

for epoch in range(EPOCHS):
    perm = torch.randperm(n_train)
    total = 0.0
    for b in range(0, n_train, BATCH):
        idx = perm[b:b + BATCH]
        i, j, r = users[idx], items[idx], stars[idx]
        err = model(i, j) - r
        # each rating moves its own two rows, so scale by a constant, not by the batch
        loss = err.pow(2).sum() / 32
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += err.detach().pow(2).sum().item()
    print(f"epoch {epoch}: train rmse {(total / n_train) ** 0.5:.3f}  test rmse {rmse(model, test):.3f}")

best = (model.v.weight @ model.u.weight[:5].T + model.bv.weight).argmax(0)
print("top item of the first users:", best.tolist())
'''
CURED = FAULTY.replace("(n_users, k)\n", "(n_users, k, sparse=True)\n").replace("(n_items, k)\n", "(n_items, k, sparse=True)\n").replace(
    "(n_users, 1)", "(n_users, 1, sparse=True)").replace("(n_items, 1)", "(n_items, 1, sparse=True)")
