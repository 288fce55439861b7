NAME = "Learns node embeddings of a card-merchant payment graph with negative sampling and scores cards for fraud."
FAULT = "The embedding tables have dense gradients, so every step clears and updates all rows although only a few thousand rows are touched."
CURE = "Create the embedding tables with sparse=True (Adagrad gives the same updates for the touched rows)."
KIND = "time"
FAULT_LINES = ["        self.card = nn.Embedding(n_cards, dim)", "        self.shop = nn.Embedding(n_shops, dim)"]
FAULT_CALLS = ["embedding_dense_backward", "step", "adagrad", "addcmul_", "addcdiv_", "sqrt", "add_", "_single_tensor_adagrad"]
FAULTY = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
rng = np.random.default_rng(18)
torch.manual_seed(18)

N_CARDS, N_SHOPS, N_PAY = 80_000, 9_000, 320_000

# fraud rings visit a small common set of shops more often
is_fraud = rng.random(N_CARDS) < 0.04
ring_shops = rng.choice(N_SHOPS, 150, replace=False)
card = rng.integers(0, N_CARDS, N_PAY)
shop = np.minimum(rng.exponential(N_SHOPS / 6, N_PAY).astype(int), N_SHOPS - 1)
swap = is_fraud[card] & (rng.random(N_PAY) < 0.5)
shop[swap] = rng.choice(ring_shops, swap.sum())
pay = pd.DataFrame({"card": card, "shop": shop}).drop_duplicates().reset_index(drop=True)
print(f"{len(pay)} edges, {is_fraud.sum()} fraudulent cards")


class BipartiteEmbedding(nn.Module):
    def __init__(self, n_cards, n_shops, dim=32):
        super().__init__()
        self.card = nn.Embedding(n_cards, dim)
        self.shop = nn.Embedding(n_shops, dim)
        nn.init.normal_(self.card.weight, std=0.1)
        nn.init.normal_(self.shop.weight, std=0.1)

    def forward(self, c, s, neg):
        ec = self.card(c)
        pos_score = (ec * self.shop(s)).sum(-1)
        neg_score = torch.bmm(self.shop(neg), ec.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(pos_score) + F.logsigmoid(-neg_score).sum(-1)).mean()


edges = torch.from_numpy(pay[["card", "shop"]].to_numpy(copy=True))
degree = np.bincount(pay["shop"], minlength=N_SHOPS) ** 0.75

model = BipartiteEmbedding(N_CARDS, N_SHOPS)
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
BATCH, N_NEG = 1024, 4

for epoch in range(3):
    order = torch.randperm(len(edges))
    negatives = torch.from_numpy(rng.choice(N_SHOPS, (len(edges), N_NEG), p=degree / degree.sum()))
    total, n_steps = 0.0, 0
    for idx in order.split(BATCH):
        c, s = edges[idx].unbind(1)
        loss = model(c, s, negatives[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        n_steps += 1
    print(f"epoch {epoch + 1}: loss {total / n_steps:.4f} in {n_steps} steps")

# a linear probe on the card vectors
vec = model.card.weight.detach().numpy()
half = N_CARDS // 2
clf = LogisticRegression(max_iter=200, class_weight="balanced").fit(vec[:half], is_fraud[:half])
score = clf.decision_function(vec[half:])
print(f"AUC of the probe: {roc_auc_score(is_fraud[half:], score):.3f}")
top = np.argsort(-score)[:200]
print(f"fraud among the 200 highest scores: {is_fraud[half:][top].mean():.2f}")
'''
CURED = FAULTY.replace("nn.Embedding(n_cards, dim)", "nn.Embedding(n_cards, dim, sparse=True)").replace("nn.Embedding(n_shops, dim)", "nn.Embedding(n_shops, dim, sparse=True)")
