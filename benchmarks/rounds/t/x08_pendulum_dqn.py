NAME = 'Trains a DQN on a vectorised made-up pendulum swing-up with a large replay buffer.'
FAULT = 'The replay buffer is a deque of several hundred thousand transitions, and random access into the middle of a deque walks its linked blocks for every sampled transition.'
CURE = 'Keep the transitions in a list used as a ring buffer (constant-time indexing).'
KIND = 'time'
FAULT_LINES = ['self.data = deque(maxlen=capacity)', 'batch = random.sample(self.data, n)']
FAULT_CALLS = ['sample', 'random.sample', 'deque', '__getitem__']
FAULTY = r"""import copy
import random
from collections import deque
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2)
random.seed(2)
rng = np.random.default_rng(2)

ENVS, ACTIONS, GAMMA = 64, np.array([-2.0, 0.0, 2.0], dtype=np.float32), 0.97


class Pendulums:
    def __init__(self, n):
        self.theta = rng.uniform(-np.pi, np.pi, n)
        self.omega = rng.uniform(-1, 1, n)

    def observe(self):
        return np.stack([np.cos(self.theta), np.sin(self.theta), self.omega / 8], 1).astype(np.float32)

    def step(self, torque):
        wrapped = (self.theta + np.pi) % (2 * np.pi) - np.pi
        reward = -(wrapped ** 2 + 0.1 * self.omega ** 2 + 0.001 * torque ** 2) / 10
        self.omega = np.clip(self.omega + 0.05 * (15 * np.sin(self.theta) + 3 * torque), -8, 8)
        self.theta = self.theta + 0.05 * self.omega
        return self.observe(), reward.astype(np.float32)


class Replay:
    def __init__(self, capacity):
        self.data = deque(maxlen=capacity)

    def extend(self, transitions):
        self.data.extend(transitions)

    def sample(self, n):
        batch = random.sample(self.data, n)
        obs, action, reward, following = zip(*batch)
        return (torch.from_numpy(np.array(obs)), torch.tensor(action),
                torch.tensor(reward), torch.from_numpy(np.array(following)))


def q_network():
    return nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))


envs = Pendulums(ENVS)
replay = Replay(500_000)
online = q_network()
target = copy.deepcopy(online)
opt = torch.optim.Adam(online.parameters(), lr=5e-4)
obs = envs.observe()


def interact(obs, epsilon):
    if epsilon >= 1:
        action = rng.integers(0, 3, ENVS)
    else:
        with torch.no_grad():
            action = online(torch.from_numpy(obs)).argmax(1).numpy()
        explore = rng.random(ENVS) < epsilon
        action = np.where(explore, rng.integers(0, 3, ENVS), action)
    following, reward = envs.step(ACTIONS[action])
    replay.extend(zip(obs, action.tolist(), reward.tolist(), following))
    return following, reward.mean()


for _ in range(5500):
    obs, _ = interact(obs, 1.0)

rewards = []
for step in range(1, 1501):
    obs, r = interact(obs, max(0.1, 1 - step / 800))
    rewards.append(r)
    s, a, rew, s2 = replay.sample(384)
    with torch.no_grad():
        goal = rew + GAMMA * target(s2).max(1).values
    q = online(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        target.load_state_dict(online.state_dict())
    if step % 300 == 0:
        print(f"step {step}: loss {loss.item():.4f} mean reward {np.mean(rewards[-300:]):.3f}")
"""
CURED = r"""import copy
import random
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2)
random.seed(2)
rng = np.random.default_rng(2)

ENVS, ACTIONS, GAMMA = 64, np.array([-2.0, 0.0, 2.0], dtype=np.float32), 0.97


class Pendulums:
    def __init__(self, n):
        self.theta = rng.uniform(-np.pi, np.pi, n)
        self.omega = rng.uniform(-1, 1, n)

    def observe(self):
        return np.stack([np.cos(self.theta), np.sin(self.theta), self.omega / 8], 1).astype(np.float32)

    def step(self, torque):
        wrapped = (self.theta + np.pi) % (2 * np.pi) - np.pi
        reward = -(wrapped ** 2 + 0.1 * self.omega ** 2 + 0.001 * torque ** 2) / 10
        self.omega = np.clip(self.omega + 0.05 * (15 * np.sin(self.theta) + 3 * torque), -8, 8)
        self.theta = self.theta + 0.05 * self.omega
        return self.observe(), reward.astype(np.float32)


class Replay:
    def __init__(self, capacity):
        self.capacity, self.cursor = capacity, 0
        self.data = []

    def extend(self, transitions):
        for item in transitions:
            if len(self.data) < self.capacity:
                self.data.append(item)
            else:
                self.data[self.cursor] = item
                self.cursor = (self.cursor + 1) % self.capacity

    def sample(self, n):
        batch = random.sample(self.data, n)
        obs, action, reward, following = zip(*batch)
        return (torch.from_numpy(np.array(obs)), torch.tensor(action),
                torch.tensor(reward), torch.from_numpy(np.array(following)))


def q_network():
    return nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))


envs = Pendulums(ENVS)
replay = Replay(500_000)
online = q_network()
target = copy.deepcopy(online)
opt = torch.optim.Adam(online.parameters(), lr=5e-4)
obs = envs.observe()


def interact(obs, epsilon):
    if epsilon >= 1:
        action = rng.integers(0, 3, ENVS)
    else:
        with torch.no_grad():
            action = online(torch.from_numpy(obs)).argmax(1).numpy()
        explore = rng.random(ENVS) < epsilon
        action = np.where(explore, rng.integers(0, 3, ENVS), action)
    following, reward = envs.step(ACTIONS[action])
    replay.extend(zip(obs, action.tolist(), reward.tolist(), following))
    return following, reward.mean()


for _ in range(5500):
    obs, _ = interact(obs, 1.0)

rewards = []
for step in range(1, 1501):
    obs, r = interact(obs, max(0.1, 1 - step / 800))
    rewards.append(r)
    s, a, rew, s2 = replay.sample(384)
    with torch.no_grad():
        goal = rew + GAMMA * target(s2).max(1).values
    q = online(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        target.load_state_dict(online.state_dict())
    if step % 300 == 0:
        print(f"step {step}: loss {loss.item():.4f} mean reward {np.mean(rewards[-300:]):.3f}")
"""
