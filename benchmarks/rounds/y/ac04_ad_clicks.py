NAME = "Trains a DeepFM click model on hashed advertising features with Adagrad and reports AUC."
FAULT = "The big hashed embedding tables get dense gradients, so each step fills and updates all rows although a batch touches only a few percent of them."
CURE = "Make the embedding tables sparse=True, for which Adagrad updates only the rows touched, with the same result."
KIND = "time"
FAULT_LINES = ["self.factors = nn.Embedding(BUCKETS, dim)", "self.weights = nn.Embedding(BUCKETS, 1)", "self.opt.step()", "loss.backward()"]
FAULT_CALLS = ["step", "adagrad", "_single_tensor_adagrad", "_multi_tensor_adagrad", "embedding_dense_backward", "addcmul_", "addcdiv_", "_foreach_addcmul_", "_foreach_addcdiv_", "sqrt"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(21)
np.random.seed(21)

BUCKETS = 300_000
FIELDS = ["user", "device", "site", "campaign", "creative", "hour", "city", "slot", "segment", "query"]
CARD = [90_000, 4_000, 12_000, 800, 30_000, 24, 3_000, 40, 600, 60_000]


def make_impressions(n):
    cols, effect = [], np.zeros(n)
    for f, card in enumerate(CARD):
        v = np.minimum((card * np.random.rand(n) ** 2.0).astype(np.int64), card - 1)
        effect += 0.7 * np.sin(v * (0.37 + f))
        cols.append((v * 2_654_435_761 + f * 97_531) % BUCKETS)
    p = 1 / (1 + np.exp(-(effect - 1.5)))
    y = (np.random.rand(n) < p).astype(np.float32)
    return torch.from_numpy(np.stack(cols, axis=1)), torch.from_numpy(y)


class DeepFM(nn.Module):
    def __init__(self, dim=12, hidden=(256, 128)):
        super().__init__()
        self.weights = nn.Embedding(BUCKETS, 1)
        self.factors = nn.Embedding(BUCKETS, dim)
        nn.init.zeros_(self.weights.weight)
        nn.init.normal_(self.factors.weight, std=0.05)
        layers, d = [], dim * len(FIELDS)
        for h in hidden:
            layers += [nn.Linear(d, h), nn.ReLU()]
            d = h
        self.deep = nn.Sequential(*layers, nn.Linear(d, 1))
        self.bias = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x):
        v = self.factors(x)
        first = self.weights(x).sum(dim=(1, 2))
        pair = 0.5 * (v.sum(1).pow(2) - v.pow(2).sum(1)).sum(1)
        return self.bias + first + pair + self.deep(v.flatten(1)).squeeze(1)


class Trainer:
    def __init__(self, model, lr=0.02):
        self.model = model
        self.opt = torch.optim.Adagrad(model.parameters(), lr=lr)
        self.loss_fn = nn.BCEWithLogitsLoss()

    def fit_epoch(self, x, y, batch_size=1024):
        self.model.train()
        order = torch.randperm(len(x))
        total = 0.0
        for start in range(0, len(x) - batch_size + 1, batch_size):
            idx = order[start:start + batch_size]
            loss = self.loss_fn(self.model(x[idx]), y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / (len(x) // batch_size)

    @torch.no_grad()
    def auc(self, x, y):
        self.model.eval()
        scores = torch.cat([self.model(b) for b in x.split(4096)])
        return roc_auc_score(y.numpy(), scores.numpy())


x_train, y_train = make_impressions(140_000)
x_valid, y_valid = make_impressions(20_000)
print(f"click rate {y_train.mean():.3f}, buckets used {len(torch.unique(x_train))}")

trainer = Trainer(DeepFM())
for epoch in range(2):
    loss = trainer.fit_epoch(x_train, y_train)
    print(f"epoch {epoch}: log loss {loss:.2f}, AUC {trainer.auc(x_valid, y_valid):.2f}")
'''
CURED = FAULTY.replace("nn.Embedding(BUCKETS, 1)", "nn.Embedding(BUCKETS, 1, sparse=True)").replace("nn.Embedding(BUCKETS, dim)", "nn.Embedding(BUCKETS, dim, sparse=True)")
