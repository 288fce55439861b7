NAME = 'Trains a PPO agent on a vectorised toy reacher task written in torch.'
FAULT = 'In every minibatch the frozen old policy is evaluated on the entire rollout buffer to get the old log-probabilities, of which only the minibatch rows are used and which never change during the update.'
CURE = 'Compute the old log-probabilities of the whole buffer once per rollout, before the update epochs, and index them.'
KIND = 'time'
FAULT_LINES = ['old_logp = log_prob(old_actor, buf_obs, buf_act)[idx]', 'mu = actor(obs)']
FAULT_CALLS = ['log_prob', 'Linear', 'linear', 'addmm', 'tanh', 'actor', 'forward']
FAULTY = r"""
import copy, math
import torch
import torch.nn as nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(0)

N_ENV, T, GAMMA, LAM, CLIP = 32, 64, 0.97, 0.9, 0.2


class Reacher:
    # point mass in the plane that must reach a random target
    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.pos = torch.zeros(self.n, 2)
        self.vel = torch.zeros(self.n, 2)
        self.goal = torch.rand(self.n, 2) * 2 - 1
        return self.obs()

    def obs(self):
        return torch.cat([self.pos, self.vel, self.goal, self.goal - self.pos], 1)

    def step(self, a):
        self.vel = 0.9 * self.vel + 0.1 * a.clamp(-1, 1)
        self.pos = self.pos + 0.2 * self.vel
        r = -(self.goal - self.pos).norm(dim=1) - 0.01 * a.pow(2).sum(1)
        return self.obs(), r


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, obs):
        return self.net(obs)


def log_prob(actor, obs, act):
    mu = actor(obs)
    z = (act - mu) / actor.log_std.exp()
    return (-0.5 * z.pow(2) - actor.log_std - 0.5 * math.log(2 * math.pi)).sum(1)


env = Reacher(N_ENV)
actor = Actor()
critic = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))
opt = torch.optim.Adam(list(actor.parameters()) + list(critic.parameters()), lr=7e-4)
curve = []

for it in range(24):
    # ---- collect
    obs, O, A, R, V = env.reset(), [], [], [], []
    with torch.no_grad():
        for _ in range(T):
            a = actor(obs) + actor.log_std.exp() * torch.randn(N_ENV, 2)
            O.append(obs); A.append(a); V.append(critic(obs).squeeze(1))
            obs, r = env.step(a)
            R.append(r)
        V.append(critic(obs).squeeze(1))
    # ---- GAE
    adv, last = [None] * T, torch.zeros(N_ENV)
    for t in reversed(range(T)):
        last = R[t] + GAMMA * V[t + 1] - V[t] + GAMMA * LAM * last
        adv[t] = last
    adv = torch.stack(adv)
    ret = (adv + torch.stack(V[:-1])).reshape(-1)
    adv = adv.reshape(-1)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    buf_obs, buf_act = torch.cat(O), torch.cat(A)

    # ---- update
    old_actor = copy.deepcopy(actor).requires_grad_(False)
    for epoch in range(3):
        for idx in torch.randperm(N_ENV * T).split(128):
            old_logp = log_prob(old_actor, buf_obs, buf_act)[idx]
            logp = log_prob(actor, buf_obs[idx], buf_act[idx])
            ratio = (logp - old_logp).exp()
            surr = torch.min(ratio * adv[idx], ratio.clamp(1 - CLIP, 1 + CLIP) * adv[idx])
            v_loss = (critic(buf_obs[idx]).squeeze(1) - ret[idx]).pow(2).mean()
            loss = -surr.mean() + 0.5 * v_loss
            opt.zero_grad()
            loss.backward()
            opt.step()
    curve.append(torch.stack(R).sum(0).mean().item())
    if it % 6 == 5:
        print(f'iteration {it + 1:2d}  mean return {curve[-1]:8.3f}  value loss {v_loss.item():.4f}')

plt.plot(curve); plt.xlabel('iteration'); plt.ylabel('return'); plt.show()
print('last return', round(curve[-1], 3))
"""
CURED = r"""
import math
import torch
import torch.nn as nn
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(0)

N_ENV, T, GAMMA, LAM, CLIP = 32, 64, 0.97, 0.9, 0.2


class Reacher:
    # point mass in the plane that must reach a random target
    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.pos = torch.zeros(self.n, 2)
        self.vel = torch.zeros(self.n, 2)
        self.goal = torch.rand(self.n, 2) * 2 - 1
        return self.obs()

    def obs(self):
        return torch.cat([self.pos, self.vel, self.goal, self.goal - self.pos], 1)

    def step(self, a):
        self.vel = 0.9 * self.vel + 0.1 * a.clamp(-1, 1)
        self.pos = self.pos + 0.2 * self.vel
        r = -(self.goal - self.pos).norm(dim=1) - 0.01 * a.pow(2).sum(1)
        return self.obs(), r


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, obs):
        return self.net(obs)


def log_prob(actor, obs, act):
    mu = actor(obs)
    z = (act - mu) / actor.log_std.exp()
    return (-0.5 * z.pow(2) - actor.log_std - 0.5 * math.log(2 * math.pi)).sum(1)


env = Reacher(N_ENV)
actor = Actor()
critic = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))
opt = torch.optim.Adam(list(actor.parameters()) + list(critic.parameters()), lr=7e-4)
curve = []

for it in range(24):
    # ---- collect
    obs, O, A, R, V = env.reset(), [], [], [], []
    with torch.no_grad():
        for _ in range(T):
            a = actor(obs) + actor.log_std.exp() * torch.randn(N_ENV, 2)
            O.append(obs); A.append(a); V.append(critic(obs).squeeze(1))
            obs, r = env.step(a)
            R.append(r)
        V.append(critic(obs).squeeze(1))
    # ---- GAE
    adv, last = [None] * T, torch.zeros(N_ENV)
    for t in reversed(range(T)):
        last = R[t] + GAMMA * V[t + 1] - V[t] + GAMMA * LAM * last
        adv[t] = last
    adv = torch.stack(adv)
    ret = (adv + torch.stack(V[:-1])).reshape(-1)
    adv = adv.reshape(-1)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    buf_obs, buf_act = torch.cat(O), torch.cat(A)

    # ---- update
    with torch.no_grad():
        buf_logp = log_prob(actor, buf_obs, buf_act)
    for epoch in range(3):
        for idx in torch.randperm(N_ENV * T).split(128):
            old_logp = buf_logp[idx]
            logp = log_prob(actor, buf_obs[idx], buf_act[idx])
            ratio = (logp - old_logp).exp()
            surr = torch.min(ratio * adv[idx], ratio.clamp(1 - CLIP, 1 + CLIP) * adv[idx])
            v_loss = (critic(buf_obs[idx]).squeeze(1) - ret[idx]).pow(2).mean()
            loss = -surr.mean() + 0.5 * v_loss
            opt.zero_grad()
            loss.backward()
            opt.step()
    curve.append(torch.stack(R).sum(0).mean().item())
    if it % 6 == 5:
        print(f'iteration {it + 1:2d}  mean return {curve[-1]:8.3f}  value loss {v_loss.item():.4f}')

plt.plot(curve); plt.xlabel('iteration'); plt.ylabel('return'); plt.show()
print('last return', round(curve[-1], 3))
"""
