NAME = 'Trains a policy to swing up pendulums with proximal policy optimisation.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(140)

n_env, horizon, epochs, minibatch = 128, 40, 4, 1024
gamma, lam, clip = 0.98, 0.95, 0.2


def mlp(out):
    return nn.Sequential(nn.Linear(3, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, out))


policy, value = mlp(1), mlp(1)
log_std = nn.Parameter(torch.zeros(1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters(), log_std], lr=1e-3)


def observe(th, om):
    return torch.stack([th.cos(), th.sin(), om / 8], 1)


def step(th, om, torque):
    torque = torque.clamp(-2, 2)
    wrapped = (th + math.pi) % (2 * math.pi) - math.pi
    cost = wrapped ** 2 + 0.1 * om ** 2 + 0.001 * torque ** 2
    om = (om + 0.05 * (15 * th.sin() + 3 * torque)).clamp(-8, 8)
    return th + 0.05 * om, om, -cost / 10


def gauss(mu, act):
    return -0.5 * ((act - mu) / log_std.exp()) ** 2 - log_std - 0.919


th = (torch.rand(n_env) * 2 - 1) * math.pi
om = torch.rand(n_env) * 2 - 1
returns_seen = []
for iteration in range(24):
    obs_l, act_l, logp_l, val_l, rew_l = [], [], [], [], []
    for t in range(horizon):
        obs = observe(th, om)
        with torch.no_grad():
            mu = policy(obs).squeeze(-1)
            act = mu + log_std.exp() * torch.randn(n_env)
            logp = gauss(mu, act)
            val = value(obs).squeeze(-1)
        th, om, rew = step(th, om, act)
        obs_l.append(obs), act_l.append(act), logp_l.append(logp), val_l.append(val), rew_l.append(rew)
    with torch.no_grad():
        nxt = value(observe(th, om)).squeeze(-1)
    adv, run = [], torch.zeros(n_env)
    for t in reversed(range(horizon)):
        run = rew_l[t] + gamma * nxt - val_l[t] + gamma * lam * run
        nxt = val_l[t]
        adv.append(run)
    adv = torch.stack(adv[::-1]).flatten()
    obs, act, logp_old, val = (torch.cat(z) for z in (obs_l, act_l, logp_l, val_l))
    target = adv + val
    adv = (adv - adv.mean()) / adv.std()
    for epoch in range(epochs):
        for idx in torch.randperm(len(obs)).split(minibatch):
            ratio = (gauss(policy(obs[idx]).squeeze(-1), act[idx]) - logp_old[idx]).exp()
            gain = torch.min(ratio * adv[idx], ratio.clamp(1 - clip, 1 + clip) * adv[idx]).mean()
            loss = -gain + 0.5 * (value(obs[idx]).squeeze(-1) - target[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    returns_seen.append(torch.stack(rew_l).mean().item())

print(f"reward {returns_seen[0]:.4f} -> {returns_seen[-1]:.4f}, last loss {loss.item():.4f}, std {log_std.exp().item():.4f}")
"""
