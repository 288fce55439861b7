NAME = "Fits a deep Cox survival model full-batch on synthetic patients and reports the concordance index."
FAULT = "The Cox partial likelihood builds an n by n risk-set matrix in every step, although risk sets are nested and a cumulative sum over sorted patients is enough."
CURE = "Sort the patients by descending time once and use logcumsumexp over the log hazards."
KIND = "time"
FAULT_LINES = ["    scores = eta.unsqueeze(0).masked_fill(~at_risk, float(\"-inf\"))",
               "    denom = torch.logsumexp(scores, dim=1)"]
FAULT_CALLS = ["logsumexp", "masked_fill", "cox_loss", "bitwise_not", "exp", "sub", "mul"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(15)
torch.manual_seed(15)

# cohort: 40 covariates, exponential times, random censoring
N_TRAIN, N_TEST, P = 2600, 500, 40
X = np.random.randn(N_TRAIN + N_TEST, P)
risk = 0.9 * X[:, 0] - 0.7 * X[:, 1] + 0.8 * X[:, 2] * X[:, 3] + 0.5 * np.abs(X[:, 4])
t_event = np.random.exponential(np.exp(-risk))
t_cens = np.random.exponential(2.0, size=len(t_event))
time = np.minimum(t_event, t_cens)
event = (t_event <= t_cens).astype(np.float32)

X = torch.tensor(X, dtype=torch.float32)
time = torch.tensor(time)
event = torch.tensor(event)
Xtr, Xte = X[:N_TRAIN], X[N_TRAIN:]
ttr, tte = time[:N_TRAIN], time[N_TRAIN:]
etr, ete = event[:N_TRAIN], event[N_TRAIN:]
mu, sd = Xtr.mean(0), Xtr.std(0)
Xtr, Xte = (Xtr - mu) / sd, (Xte - mu) / sd


class DeepSurv(nn.Module):
    def __init__(self, p, width=256, depth=3, drop=0.2):
        super().__init__()
        layers = []
        for i in range(depth):
            layers += [nn.Linear(p if i == 0 else width, width), nn.SELU(), nn.AlphaDropout(drop)]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(width, 1, bias=False)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


at_risk = ttr.unsqueeze(0) >= ttr.unsqueeze(1)


def cox_loss(eta, events):
    scores = eta.unsqueeze(0).masked_fill(~at_risk, float("-inf"))
    denom = torch.logsumexp(scores, dim=1)
    return -((eta - denom) * events).sum() / events.sum()


def concordance(eta, t, e):
    eta, t, e = eta.numpy(), t.numpy(), e.numpy()
    comparable = (t[:, None] < t[None, :]) & (e[:, None] == 1)
    better = (eta[:, None] > eta[None, :]) & comparable
    return better.sum() / comparable.sum()


model = DeepSurv(P)
optim = torch.optim.Adam(model.parameters(), lr=5e-4, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=60)

for epoch in range(60):
    model.train()
    optim.zero_grad()
    loss = cox_loss(model(Xtr), etr)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optim.step()
    sched.step()

    if (epoch + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            c_tr = concordance(model(Xtr), ttr, etr)
            c_te = concordance(model(Xte), tte, ete)
        print(f"epoch {epoch + 1:3d} | partial log-lik {-loss.item():.3f} | C train {c_tr:.3f} | C test {c_te:.3f}")

# crude risk groups on the held-out patients
model.eval()
with torch.no_grad():
    eta = model(Xte)
groups = torch.bucketize(eta, torch.quantile(eta, torch.tensor([1 / 3, 2 / 3])))
for g, name in enumerate(["low", "medium", "high"]):
    m = groups == g
    print(f"{name:>6} risk: n={int(m.sum())}, median follow-up {tte[m].median():.2f}, events {int(ete[m].sum())}")
'''
CURED = FAULTY.replace('''at_risk = ttr.unsqueeze(0) >= ttr.unsqueeze(1)
''', '''order = torch.argsort(ttr, descending=True)
''').replace('''    scores = eta.unsqueeze(0).masked_fill(~at_risk, float("-inf"))
    denom = torch.logsumexp(scores, dim=1)
''', '''    eta, events = eta[order], events[order]
    denom = torch.logcumsumexp(eta, dim=0)
''')
