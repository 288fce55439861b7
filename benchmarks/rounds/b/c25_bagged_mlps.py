NAME = 'bootstrap ensemble for churn'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(54)
N, D, MEMBERS, EPOCHS, BATCH, WIDTH = 5000, 48, 4, 12, 500, 384
df = pd.DataFrame(rng.normal(size=(N, D)).astype("float32"), columns=[f"f{i}" for i in range(D)])
score = df["f0"] * df["f1"] + np.sin(2 * df["f2"]) + 0.5 * df["f3"]
df["churn"] = (score + rng.normal(0, 0.7, N) > 0.2).astype("float32")
train, test = df.iloc[:4000], df.iloc[4000:]

def fit_member(frame, seed):
    torch.manual_seed(seed)
    scaler = StandardScaler().fit(frame.drop(columns="churn"))
    X = torch.tensor(scaler.transform(frame.drop(columns="churn")), dtype=torch.float32)
    y = torch.tensor(frame["churn"].to_numpy())
    net = nn.Sequential(nn.Linear(D, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                        nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(EPOCHS):
        for idx in torch.randperm(len(X)).split(BATCH):
            loss = nn.functional.binary_cross_entropy_with_logits(net(X[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return scaler, net.eval(), loss.item()

preds = []
for m in range(MEMBERS):
    boot = train.iloc[rng.integers(0, len(train), len(train))]
    scaler, net, last = fit_member(boot, m)
    with torch.no_grad():
        xt = torch.tensor(scaler.transform(test.drop(columns="churn")), dtype=torch.float32)
        preds.append(torch.sigmoid(net(xt)).squeeze(1).numpy())
    print("member", m, "loss", round(last, 4), "auc so far", round(roc_auc_score(test["churn"], np.mean(preds, axis=0)), 4))
print("ensemble auc", round(roc_auc_score(test["churn"], np.mean(preds, axis=0)), 4))
'''
