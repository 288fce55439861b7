NAME = 'd02_survival_net'
FAULT = 'The Cox loss builds an n x n at-risk matrix and reduces over it at every step although sorting by time once gives every risk-set sum as a cumulative sum.'
CURE = 'Sort by survival time once and use logcumsumexp over the sorted risks.'
KIND = 'time'
FAULT_LINES = (31, 32, 44)
FAULT_CALLS = ('mul', 'sum', 'ge', 'forward', 'criterion', 'backward')
FAULTY = """\
import torch
import torch.nn as nn

torch.manual_seed(1)
n, p = 3500, 40
expr = torch.randn(n, p)
w_true = torch.zeros(p)
w_true[:6] = torch.tensor([0.8, -0.6, 0.5, 0.4, -0.4, 0.3])
hazard = torch.exp(expr @ w_true)
time = -torch.log(torch.rand(n)) / hazard
censor = -torch.log(torch.rand(n)) * 1.5
event = (time <= censor).float()
obs = torch.minimum(time, censor)


class DeepSurv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


class CoxPHLoss(nn.Module):
    def forward(self, risk, t, e):
        at_risk = (t[None, :] >= t[:, None]).float()
        log_den = torch.log((at_risk * torch.exp(risk)[None, :]).sum(dim=1))
        return -((risk - log_den) * e).sum() / e.sum()


model = DeepSurv(p)
criterion = CoxPHLoss()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)

history = []
for epoch in range(55):
    model.train()
    opt.zero_grad()
    loss = criterion(model(expr), obs, event)
    loss.backward()
    opt.step()
    history.append(loss.item())

print("first", round(history[0], 4), "last", round(history[-1], 4))
"""
CURED = """\
import torch
import torch.nn as nn

torch.manual_seed(1)
n, p = 3500, 40
expr = torch.randn(n, p)
w_true = torch.zeros(p)
w_true[:6] = torch.tensor([0.8, -0.6, 0.5, 0.4, -0.4, 0.3])
hazard = torch.exp(expr @ w_true)
time = -torch.log(torch.rand(n)) / hazard
censor = -torch.log(torch.rand(n)) * 1.5
event = (time <= censor).float()
obs = torch.minimum(time, censor)


class DeepSurv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


class CoxPHLoss(nn.Module):
    def forward(self, risk, t, e):
        order = torch.argsort(t, descending=True)
        risk, e = risk[order], e[order]
        log_den = torch.logcumsumexp(risk, dim=0)
        return -((risk - log_den) * e).sum() / e.sum()


model = DeepSurv(p)
criterion = CoxPHLoss()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)

history = []
for epoch in range(55):
    model.train()
    opt.zero_grad()
    loss = criterion(model(expr), obs, event)
    loss.backward()
    opt.step()
    history.append(loss.item())

print("first", round(history[0], 4), "last", round(history[-1], 4))
"""
