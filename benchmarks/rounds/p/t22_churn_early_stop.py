NAME = 'Trains a churn model with early stopping, keeping the best weights and a table of the epochs.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'A deep copy of the weights at each better epoch, .item() at each step and a row-wise loop over the table of epochs look slow, but they take milliseconds beside the training.'
GOOD = r"""
import copy
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.set_num_threads(1)
torch.manual_seed(33)
rng = np.random.default_rng(33)

n = 16000
df = pd.DataFrame(rng.normal(size=(n, 120)), columns=[f'f{i}' for i in range(120)])
df['plan'] = rng.choice(['basic', 'plus', 'family'], n)
score = df['f0'] - 0.7 * df['f1'] * df['f2'] + 0.8 * (df['plan'] == 'family') + 0.5 * rng.normal(size=n)
df['churn'] = (score > score.quantile(0.75)).astype('float32')
X = torch.from_numpy(pd.get_dummies(df.drop(columns='churn')).to_numpy(dtype='float32'))
y = torch.from_numpy(df['churn'].to_numpy())
xt, yt, xv, yv = X[:12000], y[:12000], X[12000:], y[12000:]

net = nn.Sequential(nn.Linear(X.shape[1], 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                    nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
bce = nn.BCEWithLogitsLoss()
best, best_auc, patience, records = None, 0.0, 0, []

for epoch in range(10):
    net.train()
    running = 0.0
    for idx in torch.randperm(len(xt)).split(600):
        loss = bce(net(xt[idx]).squeeze(1), yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        out = net(xv).squeeze(1)
    auc = roc_auc_score(yv.numpy(), out.numpy())
    records.append({'epoch': epoch, 'train': running / len(xt), 'val': bce(out, yv).item(), 'auc': auc})
    if auc > best_auc:
        best, best_auc, patience = copy.deepcopy(net.state_dict()), auc, 0
    else:
        patience += 1
        if patience == 3:
            break

net.load_state_dict(best)
log = pd.DataFrame(records)
for _, row in log.iterrows():
    print(f"{int(row['epoch']):2d}  train {row['train']:.4f}  val {row['val']:.4f}  auc {row['auc']:.4f}")
print('best epoch', int(log.loc[log['auc'].idxmax(), 'epoch']))
"""
