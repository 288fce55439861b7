NAME = 'DQN on a swing-up pendulum'
FAULT = 'For every minibatch the whole replay buffer is turned into arrays before the batch is picked from them.'
CURE = "Pick the batch's transitions first and convert only those."
KIND = 'time'
FAULT_LINES = [
    'columns = [np.array(c, dtype=np.float32) for c in zip(*self.memory)]',
    'def sample(self, k):',
    's, a, r, s2 = buffer.sample(64)',
]
FAULT_CALLS = ['Replay.sample', 'numpy.array', 'zip']
FAULTY = r"""import math
import random

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(61)
random.seed(61)
np.random.seed(61)

TORQUES = (-2.0, 0.0, 2.0)


class Pendulum:
    def reset(self):
        self.th = random.uniform(-math.pi, math.pi)
        self.om = random.uniform(-1, 1)
        return self.obs()

    def obs(self):
        return np.array([math.cos(self.th), math.sin(self.th), self.om / 8], dtype=np.float32)

    def step(self, a):
        th = (self.th + math.pi) % (2 * math.pi) - math.pi
        reward = -(th ** 2 + 0.1 * self.om ** 2 + 0.001 * TORQUES[a] ** 2)
        self.om += (15 * math.sin(self.th) + 3 * TORQUES[a]) * 0.05
        self.om = max(-8.0, min(8.0, self.om))
        self.th += self.om * 0.05
        return self.obs(), reward / 10


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.pos = 0

    def push(self, *transition):
        if len(self.memory) < self.capacity:
            self.memory.append(transition)
        else:
            self.memory[self.pos] = transition
        self.pos = (self.pos + 1) % self.capacity

    def sample(self, k):
        idx = np.random.randint(0, len(self.memory), k)
        columns = [np.array(c, dtype=np.float32) for c in zip(*self.memory)]
        return [torch.from_numpy(c[idx]) for c in columns]


def q_net():
    return nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


online, target = q_net(), q_net()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=2e-3)
buffer = Replay(4000)
env = Pendulum()
gamma, steps = 0.97, 0
returns = []

for episode in range(50):
    obs, total = env.reset(), 0.0
    eps = max(0.05, 1 - episode / 25)
    for _ in range(200):
        if random.random() < eps:
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        nxt, reward = env.step(action)
        buffer.push(obs, action, reward, nxt)
        obs = nxt
        total += reward
        steps += 1
        if len(buffer.memory) >= 400 and steps % 4 == 0:
            s, a, r, s2 = buffer.sample(64)
            with torch.no_grad():
                best = target(s2).max(1).values
            q = online(s).gather(1, a.long().unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(q, r + gamma * best)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 400 == 0:
            target.load_state_dict(online.state_dict())
    returns.append(total)
    if episode % 10 == 9:
        print(f"episode {episode + 1}: mean return of last ten {np.mean(returns[-10:]):.2f}")
print("transitions seen", steps, "kept", len(buffer.memory))
"""
CURED = r"""import math
import random

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(61)
random.seed(61)
np.random.seed(61)

TORQUES = (-2.0, 0.0, 2.0)


class Pendulum:
    def reset(self):
        self.th = random.uniform(-math.pi, math.pi)
        self.om = random.uniform(-1, 1)
        return self.obs()

    def obs(self):
        return np.array([math.cos(self.th), math.sin(self.th), self.om / 8], dtype=np.float32)

    def step(self, a):
        th = (self.th + math.pi) % (2 * math.pi) - math.pi
        reward = -(th ** 2 + 0.1 * self.om ** 2 + 0.001 * TORQUES[a] ** 2)
        self.om += (15 * math.sin(self.th) + 3 * TORQUES[a]) * 0.05
        self.om = max(-8.0, min(8.0, self.om))
        self.th += self.om * 0.05
        return self.obs(), reward / 10


class Replay:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.pos = 0

    def push(self, *transition):
        if len(self.memory) < self.capacity:
            self.memory.append(transition)
        else:
            self.memory[self.pos] = transition
        self.pos = (self.pos + 1) % self.capacity

    def sample(self, k):
        idx = np.random.randint(0, len(self.memory), k)
        columns = [np.array(c, dtype=np.float32) for c in zip(*(self.memory[i] for i in idx))]
        return [torch.from_numpy(c) for c in columns]


def q_net():
    return nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


online, target = q_net(), q_net()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=2e-3)
buffer = Replay(4000)
env = Pendulum()
gamma, steps = 0.97, 0
returns = []

for episode in range(50):
    obs, total = env.reset(), 0.0
    eps = max(0.05, 1 - episode / 25)
    for _ in range(200):
        if random.random() < eps:
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        nxt, reward = env.step(action)
        buffer.push(obs, action, reward, nxt)
        obs = nxt
        total += reward
        steps += 1
        if len(buffer.memory) >= 400 and steps % 4 == 0:
            s, a, r, s2 = buffer.sample(64)
            with torch.no_grad():
                best = target(s2).max(1).values
            q = online(s).gather(1, a.long().unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(q, r + gamma * best)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 400 == 0:
            target.load_state_dict(online.state_dict())
    returns.append(total)
    if episode % 10 == 9:
        print(f"episode {episode + 1}: mean return of last ten {np.mean(returns[-10:]):.2f}")
print("transitions seen", steps, "kept", len(buffer.memory))
"""
