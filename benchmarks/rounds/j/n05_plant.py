NAME = 'Trains an actor-critic online on a single running greenhouse, one action at a time.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
torch.set_num_threads(1)


class Plant:
    '''The one greenhouse we have; it runs on, there is no reset and no second copy.'''
    LEVELS = (-1.0, -0.4, 0.0, 0.4, 1.0)

    def __init__(self):
        self.temp, self.wall, self.humid, self.t = 14.0, 12.0, 0.5, 0

    def observe(self):
        day = 2 * math.pi * self.t / 144
        return [self.temp / 20 - 1, self.wall / 20 - 1, self.humid - 0.5, math.sin(day), math.cos(day), 1.0]

    def step(self, action):
        u = self.LEVELS[action]
        day = 2 * math.pi * self.t / 144
        outside = 10 + 8 * math.sin(day) + random.gauss(0, 0.6)
        self.wall += 0.05 * (outside - self.wall) + 0.08 * (self.temp - self.wall)
        self.temp += 0.15 * (self.wall - self.temp) + 1.1 * u + 0.4 * max(0.0, math.sin(day))
        self.humid += 0.02 * (0.6 - self.humid) - 0.01 * u + random.gauss(0, 0.01)
        self.t += 1
        return -0.1 * (self.temp - 21) ** 2 / 4 - 0.15 * abs(u) - 0.5 * (self.humid - 0.55) ** 2


class ActorCritic(nn.Module):
    def __init__(self, d=6, h=1024, n=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())
        self.pi, self.v = nn.Linear(h, n), nn.Linear(h, 1)

    def policy(self, x):
        return self.pi(self.body(x))

    def forward(self, x):
        z = self.body(x)
        return self.pi(z), self.v(z).squeeze(-1)


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-4)
plant = Plant()
gamma, horizon = 0.97, 512
for update in range(46):
    obs, acts, rews = [], [], []
    with torch.inference_mode():
        for _ in range(horizon):
            o = plant.observe()
            p = net.policy(torch.tensor(o)).softmax(-1)
            a = random.choices(range(5), p.tolist())[0]
            rews.append(plant.step(a))
            obs.append(o)
            acts.append(a)
    x, a = torch.tensor(obs), torch.tensor(acts)
    with torch.no_grad():
        g = net(torch.tensor(plant.observe()))[1].item()
    returns = []
    for r in reversed(rews):
        g = r + gamma * g
        returns.append(g)
    ret = torch.tensor(returns[::-1])
    logits, value = net(x)
    adv = (ret - value).detach()
    logp = logits.log_softmax(-1)
    pg = -(logp[torch.arange(horizon), a] * (adv - adv.mean()) / (adv.std() + 1e-6)).mean()
    entropy = -(logp.exp() * logp).sum(-1).mean()
    loss = pg + 0.1 * F.smooth_l1_loss(value, ret) - 0.01 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
    if update % 9 == 8:
        print(f"update {update:2d}  mean reward {sum(rews) / horizon:.3f}  entropy {entropy.item():.3f}  temp {plant.temp:.1f}")
"""
