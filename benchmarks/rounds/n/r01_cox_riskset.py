NAME = 'Fits a deep Cox proportional hazards model to simulated hospital survival times and reports the concordance index.'
FAULT = 'The Cox partial likelihood builds an N x N risk-set mask and a masked N x N log-sum-exp at every step, although a sort by time and one logcumsumexp give the same sums in linear memory and time.'
CURE = 'Sort the patients by descending time once and take torch.logcumsumexp of the log hazards.'
KIND = 'time'
FAULT_LINES = ['at_risk = t[None, :] >= t[:, None]', "scores = h[None, :].expand(len(h), -1).masked_fill(~at_risk, float('-inf'))", 'log_denominator = torch.logsumexp(scores, dim=1)', 'loss.backward()']
FAULT_CALLS = ['logsumexp', 'masked_fill', 'expand', 'ge', 'exp', 'backward']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

# --- simulated cohort -------------------------------------------------
N, P = 1600, 24
X = rng.normal(size=(N, P)).astype('float32')
risk = 0.9 * X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.3 * np.abs(X[:, 4])
time = rng.exponential(np.exp(-risk) * 10.0)
censor = rng.exponential(18.0, size=N)
observed = (time <= censor).astype('float32')
time = np.minimum(time, censor).astype('float32')

n_train = 1350
Xtr, Xte = torch.tensor(X[:n_train]), torch.tensor(X[n_train:])
t = torch.tensor(time[:n_train])
e = torch.tensor(observed[:n_train])
t_te, e_te = time[n_train:], observed[n_train:]
print('events in train:', int(e.sum()), 'of', n_train)


class RiskNet(nn.Module):
    def __init__(self, p, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(p, hidden), nn.SELU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.SELU(),
            nn.Linear(hidden, 1, bias=False))

    def forward(self, x):
        return self.body(x).squeeze(1)


def cox_loss(h, t, e):
    # patient j belongs to the risk set of i while j is still under observation
    at_risk = t[None, :] >= t[:, None]
    scores = h[None, :].expand(len(h), -1).masked_fill(~at_risk, float('-inf'))
    log_denominator = torch.logsumexp(scores, dim=1)
    return -((h - log_denominator) * e).sum() / e.sum()


def concordance(h, time, event):
    num = den = 0.0
    for i in range(len(h)):
        if event[i] == 0:
            continue
        later = time > time[i]
        den += later.sum()
        num += (h[later] < h[i]).sum()
    return num / den


net = RiskNet(P)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 220)
history = []
for step in range(220):
    net.train()
    loss = cox_loss(net(Xtr), t, e)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    history.append(loss.item())
    if (step + 1) % 44 == 0:
        net.eval()
        with torch.no_grad():
            c = concordance(net(Xte).numpy(), t_te, e_te)
        print(f'step {step + 1:3d}  partial likelihood {loss.item():.4f}  c-index {c:.4f}')

plt.plot(history)
plt.xlabel('step')
plt.ylabel('negative partial log-likelihood')
plt.title('Deep Cox model')
plt.show()
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(11)
rng = np.random.default_rng(11)

# --- simulated cohort -------------------------------------------------
N, P = 1600, 24
X = rng.normal(size=(N, P)).astype('float32')
risk = 0.9 * X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.3 * np.abs(X[:, 4])
time = rng.exponential(np.exp(-risk) * 10.0)
censor = rng.exponential(18.0, size=N)
observed = (time <= censor).astype('float32')
time = np.minimum(time, censor).astype('float32')

n_train = 1350
Xtr, Xte = torch.tensor(X[:n_train]), torch.tensor(X[n_train:])
t = torch.tensor(time[:n_train])
e = torch.tensor(observed[:n_train])
order = torch.argsort(t, descending=True)
Xtr, t, e = Xtr[order], t[order], e[order]
t_te, e_te = time[n_train:], observed[n_train:]
print('events in train:', int(e.sum()), 'of', n_train)


class RiskNet(nn.Module):
    def __init__(self, p, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(p, hidden), nn.SELU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.SELU(),
            nn.Linear(hidden, 1, bias=False))

    def forward(self, x):
        return self.body(x).squeeze(1)


def cox_loss(h, t, e):
    # h, t and e come sorted by descending time: the risk set of i is everything up to i
    log_denominator = torch.logcumsumexp(h, dim=0)
    return -((h - log_denominator) * e).sum() / e.sum()


def concordance(h, time, event):
    num = den = 0.0
    for i in range(len(h)):
        if event[i] == 0:
            continue
        later = time > time[i]
        den += later.sum()
        num += (h[later] < h[i]).sum()
    return num / den


net = RiskNet(P)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 220)
history = []
for step in range(220):
    net.train()
    loss = cox_loss(net(Xtr), t, e)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    history.append(loss.item())
    if (step + 1) % 44 == 0:
        net.eval()
        with torch.no_grad():
            c = concordance(net(Xte).numpy(), t_te, e_te)
        print(f'step {step + 1:3d}  partial likelihood {loss.item():.4f}  c-index {c:.4f}')

plt.plot(history)
plt.xlabel('step')
plt.ylabel('negative partial log-likelihood')
plt.title('Deep Cox model')
plt.show()
"""
