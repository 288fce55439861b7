NAME = 'd26_tsne_codes'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import numpy as np
import torch
import torch.nn as nn
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier

torch.manual_seed(0)

n, classes = 700, 6
mu = torch.randn(classes, 100) * 1.2
y = torch.randint(0, classes, (n,))
X = mu[y] + torch.randn(n, 100)

net = nn.Sequential(nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, classes))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(40):
    for idx in torch.randperm(n).split(128):
        opt.zero_grad()
        nn.functional.cross_entropy(net(X[idx]), y[idx]).backward()
        opt.step()

with torch.no_grad():
    codes = net[:4](X).numpy()

emb = TSNE(n_components=2, perplexity=30, init="pca", random_state=0).fit_transform(codes)
knn = KNeighborsClassifier(10).fit(emb, y.numpy())
print("neighbour accuracy in the map: %.2f" % knn.score(emb, y.numpy()))
"""
