NAME = "Learns rider and driver embeddings from ride-sharing acceptances with an MLP on top and ranks candidate drivers."
FAULT = "The embedding tables get dense gradients, so every step zero-fills and updates all rows of both tables for the few hundred that a batch touches."
CURE = "Make both embeddings sparse=True; plain SGD then updates only the rows of the batch."
KIND = "time"
FAULT_LINES = [
    "self.rider = nn.Embedding(n_riders, dim)",
    "self.driver = nn.Embedding(n_drivers, dim)",
    "loss.backward()",
    "opt.step()",
]
FAULT_CALLS = ["embedding_dense_backward", "embedding", "step", "add_", "backward", "zeros", "EmbeddingBackward0"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
from torch import nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

N_RIDERS, N_DRIVERS, N_TRIPS = 240_000, 80_000, 190_000

# --- synthetic log of offers ------------------------------------------------
rider_home = rng.uniform(0, 1, (N_RIDERS, 2))
driver_area = rng.uniform(0, 1, (N_DRIVERS, 2))
log = pd.DataFrame({
    "rider": (rng.beta(1, 3, N_TRIPS) * N_RIDERS).astype(np.int64),
    "driver": (rng.beta(1, 2, N_TRIPS) * N_DRIVERS).astype(np.int64),
    "hour": rng.integers(0, 24, N_TRIPS),
    "surge": rng.gamma(2.0, 0.4, N_TRIPS),
})
dist = np.linalg.norm(rider_home[log.rider] - driver_area[log.driver], axis=1)
logit = 2.2 - 5.0 * dist - 0.8 * log.surge + 0.6 * np.sin(log.hour / 24 * 2 * np.pi)
log["accepted"] = (rng.uniform(size=N_TRIPS) < 1 / (1 + np.exp(-logit))).astype(np.float32)
log["pickup_km"] = dist * 12 + rng.normal(0, .5, N_TRIPS)
print(log.accepted.mean().round(3), "of offers are accepted")

ids = torch.from_numpy(log[["rider", "driver"]].to_numpy())
ctx = np.stack([np.sin(log.hour / 3.82), np.cos(log.hour / 3.82), log.surge, log.pickup_km / 6 - 1], 1)
ctx = torch.from_numpy(ctx.astype(np.float32))
target = torch.from_numpy(log.accepted.to_numpy())
n_train = 170_000


class Matcher(nn.Module):
    def __init__(self, n_riders, n_drivers, dim=24, hidden=192):
        super().__init__()
        self.rider = nn.Embedding(n_riders, dim)
        self.driver = nn.Embedding(n_drivers, dim)
        nn.init.normal_(self.rider.weight, std=0.05)
        nn.init.normal_(self.driver.weight, std=0.05)
        self.mlp = nn.Sequential(
            nn.Linear(2 * dim + 4, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1))

    def forward(self, ids, ctx):
        z = torch.cat([self.rider(ids[:, 0]), self.driver(ids[:, 1]), ctx], dim=1)
        return self.mlp(z).squeeze(1)


def run_epoch(model, opt, batch=512):
    order = torch.randperm(n_train)
    total, steps = 0.0, 0
    for chunk in order.split(batch):
        loss = criterion(model(ids[chunk], ctx[chunk]), target[chunk])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    return total / steps


model = Matcher(N_RIDERS, N_DRIVERS)
criterion = nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    print(f"epoch {epoch}: loss {run_epoch(model, opt):.4f}")

with torch.no_grad():
    scores = model(ids[n_train:], ctx[n_train:])
    print("held-out AUC %.3f" % roc_auc_score(target[n_train:], scores))
    # rank 500 random drivers for one rider
    cand = torch.from_numpy(rng.integers(0, N_DRIVERS, 500))
    pairs = torch.stack([torch.full_like(cand, 17), cand], 1)
    top = model(pairs, ctx[:500]).topk(3).indices
print("best drivers for rider 17:", cand[top].tolist())
'''
CURED = (FAULTY
         .replace("nn.Embedding(n_riders, dim)", "nn.Embedding(n_riders, dim, sparse=True)")
         .replace("nn.Embedding(n_drivers, dim)", "nn.Embedding(n_drivers, dim, sparse=True)"))
