NAME = 'Trains a Gaussian policy with REINFORCE, one simulated pendulum episode per update.'
FAULT = 'The discounted return of every time step is summed anew to the end of the episode, which is quadratic in the episode length.'
CURE = 'Compute the returns with one backward recursion G_t = r_t + gamma * G_(t+1).'
KIND = 'time'
FAULT_LINES = ['for k in range(t, len(rewards)):', 'total += gamma ** (k - t) * rewards[k]', 'for t in range(len(rewards)):', 'returns = torch.tensor(discounted_returns(rewards, GAMMA))']
FAULT_CALLS = ['discounted_returns']
FAULTY = r'''import math
import random

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
random.seed(21)

HORIZON, GAMMA, DT = 1200, 0.99, 0.02


class Pendulum:
    def reset(self):
        self.theta = math.pi + random.gauss(0, 0.2)
        self.omega = random.gauss(0, 0.1)
        return self.observe()

    def observe(self):
        return [math.cos(self.theta), math.sin(self.theta), self.omega / 8]

    def step(self, torque):
        torque = max(-2.0, min(2.0, torque))
        self.omega += DT * (15.0 * math.sin(self.theta) + 3.0 * torque)
        self.omega = max(-8.0, min(8.0, self.omega))
        self.theta += DT * self.omega
        reward = math.cos(self.theta) - 0.01 * self.omega ** 2 - 0.001 * torque ** 2
        return self.observe(), reward


def discounted_returns(rewards, gamma):
    returns = []
    for t in range(len(rewards)):
        total = 0.0
        for k in range(t, len(rewards)):
            total += gamma ** (k - t) * rewards[k]
        returns.append(total)
    return returns


policy = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
log_std = nn.Parameter(torch.tensor(-0.3))
opt = torch.optim.Adam([*policy.parameters(), log_std], lr=3e-3)
env = Pendulum()


@torch.no_grad()
def run_episode():
    observations, actions, rewards = [], [], []
    std = log_std.exp().item()
    obs = env.reset()
    for _ in range(HORIZON):
        action = policy(torch.tensor(obs)).item() + std * random.gauss(0, 1)
        observations.append(obs)
        actions.append(action)
        obs, reward = env.step(action)
        rewards.append(reward)
    return torch.tensor(observations), torch.tensor(actions), rewards


history = []
for episode in range(90):
    obs, act, rewards = run_episode()
    returns = torch.tensor(discounted_returns(rewards, GAMMA))
    adv = (returns - returns.mean()) / (returns.std() + 1e-6)
    dist = torch.distributions.Normal(policy(obs).squeeze(-1), log_std.exp())
    loss = -(dist.log_prob(act) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(sum(rewards) / len(rewards))
    if episode % 15 == 14:
        print(f"episode {episode + 1:2d}  mean reward {sum(history[-15:]) / 15:.3f}  "
              f"first return {returns[0].item():.2f}  std {log_std.exp().item():.3f}")
'''
CURED = r'''import math
import random

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
random.seed(21)

HORIZON, GAMMA, DT = 1200, 0.99, 0.02


class Pendulum:
    def reset(self):
        self.theta = math.pi + random.gauss(0, 0.2)
        self.omega = random.gauss(0, 0.1)
        return self.observe()

    def observe(self):
        return [math.cos(self.theta), math.sin(self.theta), self.omega / 8]

    def step(self, torque):
        torque = max(-2.0, min(2.0, torque))
        self.omega += DT * (15.0 * math.sin(self.theta) + 3.0 * torque)
        self.omega = max(-8.0, min(8.0, self.omega))
        self.theta += DT * self.omega
        reward = math.cos(self.theta) - 0.01 * self.omega ** 2 - 0.001 * torque ** 2
        return self.observe(), reward


def discounted_returns(rewards, gamma):
    returns = []
    total = 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.append(total)
    return returns[::-1]


policy = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
log_std = nn.Parameter(torch.tensor(-0.3))
opt = torch.optim.Adam([*policy.parameters(), log_std], lr=3e-3)
env = Pendulum()


@torch.no_grad()
def run_episode():
    observations, actions, rewards = [], [], []
    std = log_std.exp().item()
    obs = env.reset()
    for _ in range(HORIZON):
        action = policy(torch.tensor(obs)).item() + std * random.gauss(0, 1)
        observations.append(obs)
        actions.append(action)
        obs, reward = env.step(action)
        rewards.append(reward)
    return torch.tensor(observations), torch.tensor(actions), rewards


history = []
for episode in range(90):
    obs, act, rewards = run_episode()
    returns = torch.tensor(discounted_returns(rewards, GAMMA))
    adv = (returns - returns.mean()) / (returns.std() + 1e-6)
    dist = torch.distributions.Normal(policy(obs).squeeze(-1), log_std.exp())
    loss = -(dist.log_prob(act) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(sum(rewards) / len(rewards))
    if episode % 15 == 14:
        print(f"episode {episode + 1:2d}  mean reward {sum(history[-15:]) / 15:.3f}  "
              f"first return {returns[0].item():.2f}  std {log_std.exp().item():.3f}")
'''
