NAME = 'REINFORCE with a value baseline for an inventory-control problem.'
FAULT = 'Discounted returns are summed afresh from every time step on: quadratic in the episode length.'
CURE = 'Accumulate the returns backwards in one pass: g = r + GAMMA * g.'
KIND = 'time'
FAULT_LINES = [
    'for k, r in enumerate(rewards[t:]):',
    'g += GAMMA ** k * r',
    'for t in range(len(rewards)):',
    'improve(states, actions, discounted_returns(rewards))',
]
FAULT_CALLS = ['discounted_returns', 'enumerate']
FAULTY = r"""
# REINFORCE for a (s, S)-like inventory problem with seasonal demand
import math
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
np.random.seed(15)
torch.manual_seed(15)

HORIZON = 2200          # days
EPISODES = 36
GAMMA = 0.995
ORDER_SIZES = [0, 5, 10, 20, 40]


class Warehouse:
    capacity = 120
    hold, lost, fixed, margin = 0.04, 1.2, 3.0, 1.0

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.day, self.stock, self.pipeline = 0, 40, [0, 0]
        return self.observe()

    def observe(self):
        ph = 2 * math.pi * self.day / 28
        return [self.stock / 60, self.pipeline[0] / 40, self.pipeline[1] / 40,
                math.sin(ph), math.cos(ph)]

    def step(self, order):
        self.stock = min(self.capacity, self.stock + self.pipeline.pop(0))
        self.pipeline.append(order)
        lam = 8 + 5 * math.sin(2 * math.pi * self.day / 28)
        demand = int(self.rng.poisson(lam))
        sold = min(demand, self.stock)
        self.stock -= sold
        reward = (self.margin * sold - self.hold * self.stock
                  - self.lost * (demand - sold) - self.fixed * (order > 0))
        self.day += 1
        return self.observe(), reward / 10, self.day >= HORIZON


policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, len(ORDER_SIZES)))
value = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)


def rollout(env):
    states, actions, rewards = [], [], []
    s, done = env.reset(), False
    with torch.no_grad():
        while not done:
            p = torch.softmax(policy(torch.tensor(s)), -1)
            a = int(torch.multinomial(p, 1))
            nxt, r, done = env.step(ORDER_SIZES[a])
            states.append(s)
            actions.append(a)
            rewards.append(r)
            s = nxt
    return torch.tensor(states), torch.tensor(actions), rewards


def discounted_returns(rewards):
    returns = []
    for t in range(len(rewards)):
        g = 0.0
        for k, r in enumerate(rewards[t:]):
            g += GAMMA ** k * r
        returns.append(g)
    return torch.tensor(returns)


def improve(states, actions, returns):
    v = value(states).squeeze(1)
    adv = returns - v.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    dist = Categorical(logits=policy(states))
    loss = -(dist.log_prob(actions) * adv).mean() - 0.01 * dist.entropy().mean()
    loss = loss + 0.5 * (returns - v).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


scores = []
for ep in range(EPISODES):
    states, actions, rewards = rollout(Warehouse(seed=ep))
    improve(states, actions, discounted_returns(rewards))
    scores.append(sum(rewards))

print(f'profit of first 5 episodes {np.mean(scores[:5]):.1f}, last 5 {np.mean(scores[-5:]):.1f}')
"""
CURED = r"""
# REINFORCE for a (s, S)-like inventory problem with seasonal demand
import math
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
np.random.seed(15)
torch.manual_seed(15)

HORIZON = 2200          # days
EPISODES = 36
GAMMA = 0.995
ORDER_SIZES = [0, 5, 10, 20, 40]


class Warehouse:
    capacity = 120
    hold, lost, fixed, margin = 0.04, 1.2, 3.0, 1.0

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.day, self.stock, self.pipeline = 0, 40, [0, 0]
        return self.observe()

    def observe(self):
        ph = 2 * math.pi * self.day / 28
        return [self.stock / 60, self.pipeline[0] / 40, self.pipeline[1] / 40,
                math.sin(ph), math.cos(ph)]

    def step(self, order):
        self.stock = min(self.capacity, self.stock + self.pipeline.pop(0))
        self.pipeline.append(order)
        lam = 8 + 5 * math.sin(2 * math.pi * self.day / 28)
        demand = int(self.rng.poisson(lam))
        sold = min(demand, self.stock)
        self.stock -= sold
        reward = (self.margin * sold - self.hold * self.stock
                  - self.lost * (demand - sold) - self.fixed * (order > 0))
        self.day += 1
        return self.observe(), reward / 10, self.day >= HORIZON


policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, len(ORDER_SIZES)))
value = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)


def rollout(env):
    states, actions, rewards = [], [], []
    s, done = env.reset(), False
    with torch.no_grad():
        while not done:
            p = torch.softmax(policy(torch.tensor(s)), -1)
            a = int(torch.multinomial(p, 1))
            nxt, r, done = env.step(ORDER_SIZES[a])
            states.append(s)
            actions.append(a)
            rewards.append(r)
            s = nxt
    return torch.tensor(states), torch.tensor(actions), rewards


def discounted_returns(rewards):
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + GAMMA * g
        returns.append(g)
    return torch.tensor(returns[::-1])


def improve(states, actions, returns):
    v = value(states).squeeze(1)
    adv = returns - v.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    dist = Categorical(logits=policy(states))
    loss = -(dist.log_prob(actions) * adv).mean() - 0.01 * dist.entropy().mean()
    loss = loss + 0.5 * (returns - v).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


scores = []
for ep in range(EPISODES):
    states, actions, rewards = rollout(Warehouse(seed=ep))
    improve(states, actions, discounted_returns(rewards))
    scores.append(sum(rewards))

print(f'profit of first 5 episodes {np.mean(scores[:5]):.1f}, last 5 {np.mean(scores[-5:]):.1f}')
"""
