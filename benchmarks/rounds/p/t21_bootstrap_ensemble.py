NAME = 'Trains an ensemble of five networks on bootstrap samples and reports predictive intervals.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The loop over the members looks as if it should be batched, but each matrix product already keeps the processor busy, so one at a time costs the same.'
GOOD = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(90)

n, d = 6000, 96
X = torch.randn(n, d)
coef = torch.randn(d) * (torch.rand(d) < 0.2)
y = X @ coef + torch.sin(3 * X[:, 0]) + (0.3 + 0.3 * torch.sigmoid(X[:, 1])) * torch.randn(n)
Xtr, ytr, Xte, yte = X[:5000], y[:5000], X[5000:], y[5000:]


class Member(nn.Module):
    def __init__(self, w=640):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, w), nn.ReLU(), nn.Linear(w, w), nn.ReLU(), nn.Linear(w, w), nn.ReLU())
        self.mu = nn.Linear(w, 1)
        self.logvar = nn.Linear(w, 1)

    def forward(self, x):
        h = self.net(x)
        return self.mu(h).squeeze(-1), self.logvar(h).squeeze(-1).clamp(-6, 3)


def nll(mu, logvar, target):
    return 0.5 * (logvar + (target - mu) ** 2 / logvar.exp()).mean()


members, opts, boots = [], [], []
for m in range(5):
    members.append(Member())
    opts.append(torch.optim.SGD(members[-1].parameters(), lr=0.02))
    boots.append(torch.randint(len(Xtr), (len(Xtr),)))

for epoch in range(4):
    losses = []
    for net, opt, rows in zip(members, opts, boots):
        total = 0.0
        for idx in rows[torch.randperm(len(rows))].split(1000):
            mu, logvar = net(Xtr[idx])
            loss = nll(mu, logvar, ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        losses.append(total / len(rows))
    print(f'epoch {epoch}: ' + ' '.join(f'{v:.3f}' for v in losses))

with torch.no_grad():
    outs = [net(Xte) for net in members]
mus = torch.stack([o[0] for o in outs])
var = torch.stack([o[1].exp() for o in outs]).mean(0) + mus.var(0)
centre, half = mus.mean(0), 1.645 * var.sqrt()
inside = ((yte - centre).abs() < half).float().mean()
print(f'90% interval covers {inside:.3f} of the test points, mean width {(2 * half).mean():.2f}')
"""
