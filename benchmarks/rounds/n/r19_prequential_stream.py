NAME = 'Test-then-train (prequential) evaluation of an online fraud detector with concept drift on a transaction stream.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'Batches of four rows look absurdly small, but the protocol demands that each arriving micro-batch be scored by the model trained on everything before it.'
GOOD = r"""
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

# transactions arrive four at a time; fraud pattern changes after 60 % of the stream
ARRIVAL, N = 4, 18_000
stream = pd.DataFrame({
    'amount': rng.lognormal(3, 1, N),
    'hour': rng.integers(0, 24, N),
    'merchant': rng.integers(0, 40, N),
    'country': rng.integers(0, 12, N),
    'gap': rng.exponential(1.0, N),
})
old = (stream.amount > 40) & (stream.hour < 7)
new = (stream.gap < 0.25) & (stream.merchant % 5 == 2)
p = np.where(np.arange(N) < .6 * N, np.where(old, .7, .03), np.where(new, .7, .03))
stream['fraud'] = (rng.random(N) < p).astype(int)
print(stream.fraud.groupby(np.arange(N) // 6000).mean().round(3).to_dict())

dense = torch.tensor(np.column_stack([
    np.log1p(stream.amount) - 3, np.sin(stream.hour / 24 * 2 * np.pi),
    np.cos(stream.hour / 24 * 2 * np.pi), np.log(stream.gap + 1e-3)]), dtype=torch.float32)
merchant = torch.tensor(stream.merchant.to_numpy())
country = torch.tensor(stream.country.to_numpy())
y = torch.tensor(stream.fraud.to_numpy(), dtype=torch.float32)


class OnlineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = nn.Embedding(40, 6)
        self.c = nn.Embedding(12, 4)
        self.f = nn.Sequential(nn.Linear(14, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, d, m, c):
        return self.f(torch.cat([d, self.m(m), self.c(c)], 1)).squeeze(1)


net = OnlineNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.5)
score = np.zeros(N)
for start in range(0, N, ARRIVAL):
    s = slice(start, start + ARRIVAL)
    logit = net(dense[s], merchant[s], country[s])
    # predictions are made before the labels of this arrival are used
    score[s] = torch.sigmoid(logit.detach()).numpy()
    loss = F.binary_cross_entropy_with_logits(logit, y[s])
    opt.zero_grad()
    loss.backward()
    opt.step()

stream['score'] = score
stream['block'] = np.arange(N) // 1500
auc = stream.groupby('block')[['fraud', 'score']].apply(lambda g: roc_auc_score(g.fraud, g.score))
print(auc.round(4).to_string())
print('prequential AUC overall', round(roc_auc_score(stream.fraud, stream.score), 4))

auc.plot(marker='o')
plt.axvline(.6 * N / 1500, ls='--', c='k')
plt.ylabel('AUC per 1500 transactions')
plt.show()
"""
