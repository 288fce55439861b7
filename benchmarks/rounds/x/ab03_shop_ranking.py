NAME = "Trains an implicit-feedback ranking model (item/user embeddings plus a small scoring tower) on synthetic shop clicks with plain SGD."
FAULT = "The big embedding tables produce dense gradients, so every step allocates, zeroes and applies a table-sized gradient though only a few thousand rows are touched."
CURE = "Create the two embeddings with sparse=True (plain SGD takes sparse gradients)."
KIND = "time"
FAULT_LINES = [
    "self.item = nn.Embedding(n_items, dim)",
    "self.user = nn.Embedding(n_users, dim)",
    "opt.step()",
    "loss.backward()",
    "opt = torch.optim.SGD(model.parameters(), lr=0.5)",
]
FAULT_CALLS = ["embedding", "embedding_backward", "embedding_dense_backward", "EmbeddingBackward0", "SGD.step", "step", "add_", "_foreach_add_", "zeros", "zero_", "fill_", "backward"]
FAULTY = r'''
import time
import numpy as np
import pandas as pd
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

n_users, n_items, n_clicks = 60_000, 140_000, 400_000

# --- click log -------------------------------------------------------------
pop = rng.zipf(1.25, size=3 * n_clicks)
pop = pop[pop <= n_items][:n_clicks] - 1
users = rng.integers(0, n_users, size=len(pop))
items = (pop * 7919 + (users % 5) * 101) % n_items
clicks = pd.DataFrame({"user": users, "item": items}).drop_duplicates()
clicks = clicks.sample(frac=1.0, random_state=0).reset_index(drop=True)
n_val = 20_000
val, train = clicks.iloc[:n_val], clicks.iloc[n_val:n_val + 210_000]
print(len(train), "training clicks,", train["item"].nunique(), "distinct items")


class Ranker(nn.Module):
    def __init__(self, n_users, n_items, dim=32):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        self.tower = nn.Sequential(
            nn.Linear(3 * dim, 128), nn.ReLU(),
            nn.Linear(128, 64), nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, u, i):
        eu, ei = self.user(u), self.item(i)
        z = torch.cat([eu, ei, eu * ei], dim=-1)
        return self.tower(z).squeeze(-1)


def bpr(pos, neg):
    return -F.logsigmoid(pos - neg).mean()


@torch.no_grad()
def auc(model, frame):
    u = torch.from_numpy(frame["user"].to_numpy(copy=True))
    p = torch.from_numpy(frame["item"].to_numpy(copy=True))
    n = torch.randint(0, n_items, p.shape)
    return (model(u, p) > model(u, n)).float().mean().item()


model = Ranker(n_users, n_items)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
u_all = torch.from_numpy(train["user"].to_numpy(copy=True))
i_all = torch.from_numpy(train["item"].to_numpy(copy=True))

t0 = time.time()
for epoch in range(3):
    model.train()
    running = 0.0
    batches = torch.randperm(len(u_all)).split(2048)
    for idx in batches:
        u, pos = u_all[idx], i_all[idx]
        neg = torch.randint(0, n_items, pos.shape)
        loss = bpr(model(u, pos), model(u, neg))
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    print(f"epoch {epoch}: loss {running / len(batches):.3f}  val auc {auc(model, val):.3f}")
'''
CURED = (FAULTY.replace("nn.Embedding(n_users, dim)", "nn.Embedding(n_users, dim, sparse=True)")
               .replace("nn.Embedding(n_items, dim)", "nn.Embedding(n_items, dim, sparse=True)"))
