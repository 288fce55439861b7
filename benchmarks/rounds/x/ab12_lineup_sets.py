NAME = "Predicts match goal differences from line-ups with a deep-sets network and gives Monte-Carlo-dropout intervals."
FAULT = None
CURE = None
KIND = None
LOOKS = "The model stays in train mode at prediction and is run 50 times on the same input, and both teams pass through the same network separately; the dropout draws are the uncertainty estimate and the teams differ."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(33)

PLAYERS, TEAM, MATCHES, FEATS = 800, 11, 3000, 12

# ---- season simulator -------------------------------------------------------
skill = torch.randn(PLAYERS)
style = torch.randn(PLAYERS, FEATS - 1)
form_home = skill.new_empty(MATCHES, TEAM).normal_(0, 0.4)
form_away = skill.new_empty(MATCHES, TEAM).normal_(0, 0.4)
home = torch.stack([torch.randperm(PLAYERS)[:TEAM] for _ in range(MATCHES)])
away = torch.stack([torch.randperm(PLAYERS)[:TEAM] for _ in range(MATCHES)])


def team_strength(ids, form):
    s = skill[ids] + form
    return s.mean(1) + 0.5 * s.max(1).values + 0.3 * style[ids, 0].std(1)


margin = 1.6 * (team_strength(home, form_home) - team_strength(away, form_away)) + 0.35
margin = margin + 0.8 * torch.randn(MATCHES)


def features(ids, form):
    return torch.cat([(skill[ids] + form).unsqueeze(-1), style[ids]], dim=-1)


x_home, x_away = features(home, form_home), features(away, form_away)


class LineupNet(nn.Module):
    def __init__(self, f=FEATS, h=96, drop=0.15):
        super().__init__()
        self.drop_in = nn.Dropout(drop)
        self.phi = nn.Sequential(nn.Linear(f, h), nn.ReLU(), nn.Dropout(drop), nn.Linear(h, h), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(2 * h, h), nn.ReLU(), nn.Dropout(drop), nn.Linear(h, 1))
        self.home_edge = nn.Parameter(torch.zeros(1))

    def strength(self, x):
        z = self.phi(self.drop_in(x))
        pooled = torch.cat([z.mean(1), z.amax(1)], dim=-1)
        return self.rho(pooled).squeeze(-1)

    def forward(self, xh, xa):
        return self.strength(xh) - self.strength(xa) + self.home_edge


def fit(model, train, epochs=25, bs=128):
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3, fused=True)
    for ep in range(epochs):
        model.train()
        total = 0.0
        for idx in train[torch.randperm(len(train))].split(bs):
            loss = nn.functional.huber_loss(model(x_home[idx], x_away[idx]), margin[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if ep % 5 == 4:
            print(f"epoch {ep + 1}: huber {total / len(train):.4f}")


@torch.inference_mode()
def predict(model, idx, draws=50):
    model.train()
    sims = []
    for _ in range(draws):
        sims.append(model(x_home[idx], x_away[idx]))
    sims = torch.stack(sims)
    return sims.mean(0), sims.std(0)


order = torch.randperm(MATCHES)
train, test = order[:2400], order[2400:]
net = LineupNet()
fit(net, train)

mean, spread = predict(net, test)
resid = margin[test] - mean
total_sd = (spread ** 2 + 0.8 ** 2).sqrt()
inside = (resid.abs() < 1.64 * total_sd).float().mean()
right = (mean.sign() == margin[test].sign()).float().mean()
print(f"test MAE {resid.abs().mean():.3f}  winner right {right:.1%}  90% interval covers {inside:.1%}")
print(f"model spread {spread.mean():.3f}  home edge {net.home_edge.item():.3f}")
'''
