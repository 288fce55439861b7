NAME = 'd12_pendulum_reinforce'
FAULT = 'The policy network is called separately for each of the parallel environments (batch of one) at every time step.'
CURE = 'Stack the observations of all environments and make one policy call per time step.'
KIND = 'time'
FAULT_LINES = (40, 41, 42)
FAULT_CALLS = ('policy', 'forward', 'Categorical', '__init__', 'sample', 'log_prob')
FAULTY = """\
import math
import random
import torch
import torch.nn as nn
from torch.distributions import Categorical

random.seed(0)
torch.manual_seed(0)


class Pendulum:
    def reset(self):
        self.th = random.uniform(-math.pi, math.pi)
        self.om = random.uniform(-1, 1)
        return self.obs()

    def obs(self):
        return [math.cos(self.th), math.sin(self.th), self.om / 8]

    def step(self, a):
        u = (a - 1) * 2.0
        cost = ((self.th + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * self.om ** 2 + 0.001 * u * u
        self.om = max(-8.0, min(8.0, self.om + (15 * math.sin(self.th) + 3 * u) * 0.05))
        self.th += self.om * 0.05
        return self.obs(), -cost


policy = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
envs = [Pendulum() for _ in range(16)]
HORIZON, GAMMA = 80, 0.97

scores = []
for update in range(7):
    obs = [e.reset() for e in envs]
    logps, rewards = [], []
    for t in range(HORIZON):
        step_logp, step_rew = [], []
        for i, env in enumerate(envs):
            pi = Categorical(logits=policy(torch.tensor([obs[i]])))
            a = pi.sample()
            step_logp.append(pi.log_prob(a)[0])
            obs[i], r = env.step(a.item())
            step_rew.append(r)
        logps.append(torch.stack(step_logp))
        rewards.append(torch.tensor(step_rew))
    R = torch.zeros(len(envs))
    returns = []
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    ret = torch.stack(returns)
    adv = (ret - ret.mean(1, keepdim=True)) / (ret.std() + 1e-6)
    loss = -(torch.stack(logps) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    scores.append(torch.stack(rewards).sum(0).mean().item())

print("mean return over updates: %.0f" % (sum(scores) / len(scores)))
"""
CURED = """\
import math
import random
import torch
import torch.nn as nn
from torch.distributions import Categorical

random.seed(0)
torch.manual_seed(0)


class Pendulum:
    def reset(self):
        self.th = random.uniform(-math.pi, math.pi)
        self.om = random.uniform(-1, 1)
        return self.obs()

    def obs(self):
        return [math.cos(self.th), math.sin(self.th), self.om / 8]

    def step(self, a):
        u = (a - 1) * 2.0
        cost = ((self.th + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * self.om ** 2 + 0.001 * u * u
        self.om = max(-8.0, min(8.0, self.om + (15 * math.sin(self.th) + 3 * u) * 0.05))
        self.th += self.om * 0.05
        return self.obs(), -cost


policy = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
envs = [Pendulum() for _ in range(16)]
HORIZON, GAMMA = 80, 0.97

scores = []
for update in range(7):
    obs = [e.reset() for e in envs]
    logps, rewards = [], []
    for t in range(HORIZON):
        step_rew = []
        pi = Categorical(logits=policy(torch.tensor(obs)))
        acts = pi.sample()
        logps.append(pi.log_prob(acts))
        for i, (env, a) in enumerate(zip(envs, acts.tolist())):
            obs[i], r = env.step(a)
            step_rew.append(r)
        rewards.append(torch.tensor(step_rew))
    R = torch.zeros(len(envs))
    returns = []
    for r in reversed(rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    ret = torch.stack(returns)
    adv = (ret - ret.mean(1, keepdim=True)) / (ret.std() + 1e-6)
    loss = -(torch.stack(logps) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    scores.append(torch.stack(rewards).sum(0).mean().item())

print("mean return over updates: %.0f" % (sum(scores) / len(scores)))
"""
