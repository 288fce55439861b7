NAME = 'Trains a Gaussian policy with REINFORCE on long episodes of a point-mass control task.'
FAULT = 'Discounted returns are summed anew from every time step, quadratic in the episode length, in plain Python.'
CURE = 'Accumulate the returns in one backward pass over the rewards.'
KIND = 'time'
FAULT_LINES = ['for t in range(len(rewards)):', 'returns.append(sum(r * gamma ** k for k, r in enumerate(rewards[t:])))', 'returns = torch.tensor(discounted_returns(rewards, GAMMA))']
FAULT_CALLS = ['discounted_returns', 'sum', 'enumerate', 'genexpr', 'append']

FAULTY = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(7)

GAMMA, HORIZON, EPISODES = 0.995, 2000, 36


class PointMass:
    """A mass on a line that should be kept near a target which drifts slowly."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.wind = torch.randn(HORIZON, generator=self.gen).tolist()
        self.pos, self.vel, self.target, self.t = 1.0, 0.0, 0.0, 0
        return self.obs()

    def obs(self):
        return [self.pos, self.vel, self.target, math.sin(0.01 * self.t)]

    def step(self, force):
        force = max(-2.0, min(2.0, force))
        self.vel += 0.05 * (force - 0.4 * self.vel + 0.1 * self.wind[self.t])
        self.pos += 0.05 * self.vel
        self.pos = max(-3.0, min(3.0, self.pos))
        self.t += 1
        self.target = 0.5 * math.sin(0.01 * self.t)
        reward = -(self.pos - self.target) ** 2 - 0.01 * force ** 2
        return self.obs(), reward, self.t >= HORIZON


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.tensor(-0.5))

    def log_prob(self, obs, act):
        z = (act - self.body(obs).squeeze(-1)) / self.log_std.exp()
        return -0.5 * z ** 2 - self.log_std


def discounted_returns(rewards, gamma):
    returns = []
    for t in range(len(rewards)):
        returns.append(sum(r * gamma ** k for k, r in enumerate(rewards[t:])))
    return returns


@torch.no_grad()
def play(env, policy):
    observations, actions, rewards = [], [], []
    noise = (torch.randn(HORIZON) * policy.log_std.exp()).tolist()
    obs, done = env.reset(), False
    while not done:
        mean = policy.body(torch.tensor(obs)).item()
        act = mean + noise[len(actions)]
        observations.append(obs)
        actions.append(act)
        obs, reward, done = env.step(act)
        rewards.append(reward)
    return torch.tensor(observations), torch.tensor(actions), rewards


env, policy = PointMass(1), Policy()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)

for episode in range(EPISODES):
    obs, act, rewards = play(env, policy)
    returns = torch.tensor(discounted_returns(rewards, GAMMA))
    adv = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(policy.log_prob(obs, act) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if episode % 4 == 3:
        print(f"episode {episode + 1}: reward {sum(rewards) / HORIZON:.4f}, first return {returns[0]:.3f}")
'''

CURED = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(7)

GAMMA, HORIZON, EPISODES = 0.995, 2000, 36


class PointMass:
    """A mass on a line that should be kept near a target which drifts slowly."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.wind = torch.randn(HORIZON, generator=self.gen).tolist()
        self.pos, self.vel, self.target, self.t = 1.0, 0.0, 0.0, 0
        return self.obs()

    def obs(self):
        return [self.pos, self.vel, self.target, math.sin(0.01 * self.t)]

    def step(self, force):
        force = max(-2.0, min(2.0, force))
        self.vel += 0.05 * (force - 0.4 * self.vel + 0.1 * self.wind[self.t])
        self.pos += 0.05 * self.vel
        self.pos = max(-3.0, min(3.0, self.pos))
        self.t += 1
        self.target = 0.5 * math.sin(0.01 * self.t)
        reward = -(self.pos - self.target) ** 2 - 0.01 * force ** 2
        return self.obs(), reward, self.t >= HORIZON


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.tensor(-0.5))

    def log_prob(self, obs, act):
        z = (act - self.body(obs).squeeze(-1)) / self.log_std.exp()
        return -0.5 * z ** 2 - self.log_std


def discounted_returns(rewards, gamma):
    returns = []
    running = 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.append(running)
    return returns[::-1]


@torch.no_grad()
def play(env, policy):
    observations, actions, rewards = [], [], []
    noise = (torch.randn(HORIZON) * policy.log_std.exp()).tolist()
    obs, done = env.reset(), False
    while not done:
        mean = policy.body(torch.tensor(obs)).item()
        act = mean + noise[len(actions)]
        observations.append(obs)
        actions.append(act)
        obs, reward, done = env.step(act)
        rewards.append(reward)
    return torch.tensor(observations), torch.tensor(actions), rewards


env, policy = PointMass(1), Policy()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)

for episode in range(EPISODES):
    obs, act, rewards = play(env, policy)
    returns = torch.tensor(discounted_returns(rewards, GAMMA))
    adv = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(policy.log_prob(obs, act) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if episode % 4 == 3:
        print(f"episode {episode + 1}: reward {sum(rewards) / HORIZON:.4f}, first return {returns[0]:.3f}")
'''
