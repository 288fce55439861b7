NAME = 'g14_mc_dropout'
FAULT = 'The Monte Carlo dropout passes are collected without no_grad, so all graphs with their saved activations stay alive until the stack is reduced.'
CURE = 'Run the sampling passes under torch.no_grad().'
KIND = 'memory'
FAULT_LINES = [
    '    draws = torch.stack([net(x).squeeze(1) for _ in range(n_draws)])',
    'mu, sd = predict(Xte, 40)',
]
FAULT_CALLS = ['torch.nn.functional.linear', 'torch.nn.functional.dropout', 'torch.nn.Module.__call__', 'predict', 'aten::native_dropout', 'aten::relu']

FAULTY = r'''
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1

torch.set_num_threads(1)
torch.manual_seed(0)

X, y = make_friedman1(n_samples=7000, n_features=12, noise=0.6, random_state=0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)
Xtr, ytr, Xte, yte = X[:3000], y[:3000], X[3000:], y[3000:]

net = nn.Sequential(nn.Linear(12, 384), nn.ReLU(), nn.Dropout(0.1),
                    nn.Linear(384, 384), nn.ReLU(), nn.Dropout(0.1), nn.Linear(384, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-5)
for epoch in range(25):
    for b in torch.randperm(len(Xtr)).split(100):
        loss = nn.functional.mse_loss(net(Xtr[b]).squeeze(1), ytr[b])
        opt.zero_grad(); loss.backward(); opt.step()
def predict(x, n_draws):
    net.train()                     # dropout stays on
    draws = torch.stack([net(x).squeeze(1) for _ in range(n_draws)])
    return draws.mean(0).detach(), draws.std(0).detach()

mu, sd = predict(Xte, 40)
err = (mu - yte).abs()
print("rmse %.3f" % (mu - yte).square().mean().sqrt().item())
print("corr(|error|, sd) %.3f" % torch.corrcoef(torch.stack([err, sd]))[0, 1].item())
'''

CURED = r'''
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1

torch.set_num_threads(1)
torch.manual_seed(0)

X, y = make_friedman1(n_samples=7000, n_features=12, noise=0.6, random_state=0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)
Xtr, ytr, Xte, yte = X[:3000], y[:3000], X[3000:], y[3000:]

net = nn.Sequential(nn.Linear(12, 384), nn.ReLU(), nn.Dropout(0.1),
                    nn.Linear(384, 384), nn.ReLU(), nn.Dropout(0.1), nn.Linear(384, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-5)
for epoch in range(25):
    for b in torch.randperm(len(Xtr)).split(100):
        loss = nn.functional.mse_loss(net(Xtr[b]).squeeze(1), ytr[b])
        opt.zero_grad(); loss.backward(); opt.step()
def predict(x, n_draws):
    net.train()                     # dropout stays on
    with torch.no_grad():
        draws = torch.stack([net(x).squeeze(1) for _ in range(n_draws)])
    return draws.mean(0).detach(), draws.std(0).detach()

mu, sd = predict(Xte, 40)
err = (mu - yte).abs()
print("rmse %.3f" % (mu - yte).square().mean().sqrt().item())
print("corr(|error|, sd) %.3f" % torch.corrcoef(torch.stack([err, sd]))[0, 1].item())
'''
