NAME = "Fits a neural additive Cox model (one small network per covariate) to synthetic follow-up data."
FAULT = None
CURE = None
KIND = None
LOOKS = "Float64 in the partial likelihood, full-batch passes every epoch, an all-pairs concordance matrix and copies of the weights look wasteful; the risk sets need all patients and the other parts take about a per cent in all."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import copy
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(17)
rng = np.random.default_rng(17)


def cohort(n, p=16):
    x = rng.normal(size=(n, p)).astype(np.float32)
    risk = 0.8 * np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2 - 0.7 * x[:, 2] + 0.4 * np.tanh(3 * x[:, 3])
    event_time = rng.exponential(np.exp(-risk)) * 5
    censor = rng.exponential(8, size=n)
    t = np.minimum(event_time, censor)
    order = np.argsort(-t)                      # longest follow-up first
    return (torch.from_numpy(x[order]),
            torch.from_numpy(t[order]),
            torch.from_numpy((event_time <= censor)[order]))


class AdditiveRisk(nn.Module):
    """f(x) = sum_j f_j(x_j); the p networks run as batched products."""

    def __init__(self, p, h=32):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(p, 1, h))
        self.b1 = nn.Parameter(torch.randn(p, 1, h) * 0.5)
        self.w2 = nn.Parameter(torch.randn(p, h, h) / h ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(p, 1, h))
        self.w3 = nn.Parameter(torch.randn(p, 1, h) * 0.01)

    def forward(self, x):
        z = x.t().unsqueeze(-1)
        z = torch.tanh(torch.baddbmm(self.b1, z, self.w1))
        z = torch.tanh(torch.baddbmm(self.b2, z, self.w2))
        return (z * self.w3).sum(dim=(0, 2))


def neg_log_partial(score, event):
    score = score.double()
    log_risk = torch.logcumsumexp(score, dim=0)
    return -(score - log_risk)[event].mean()


def concordance(score, t, event):
    earlier = (t[:, None] < t[None, :]) & event[:, None]
    higher = score[:, None] > score[None, :]
    return (earlier & higher).sum().item() / earlier.sum().item()


x, t, event = cohort(5000)
xv, tv, ev = cohort(700)
print(f"{len(x)} patients, {event.float().mean():.0%} with an event")

model = AdditiveRisk(x.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
best, best_state, patience = 0.0, None, 0

for epoch in range(150):
    model.train()
    loss = neg_log_partial(model(x), event)
    opt.zero_grad()
    loss.backward()
    opt.step()

    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            c = concordance(model(xv), tv, ev)
        if c > best:
            best, patience = c, 0
            best_state = copy.deepcopy(model.state_dict())
        else:
            patience += 1
        if epoch % 30 == 29:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}  c-index {c:.3f}")

model.load_state_dict(best_state)
with torch.no_grad():
    print(f"best c-index {concordance(model(xv), tv, ev):.3f}")
'''
