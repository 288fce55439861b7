NAME = 'Trains a small double DQN on a home-made landing task from a large replay memory filled by random play.'
FAULT = 'The replay memory is a deque of 220,000 transitions and random.sample indexes into its middle, which walks the linked blocks for every drawn transition.'
CURE = 'Keep the transitions in a list used as a ring buffer, whose indexing is constant time.'
KIND = 'time'
FAULT_LINES = ['self.data = deque(maxlen=capacity)', 'rows = random.sample(self.data, n)', 's, a, r, s2, d = memory.sample(BATCH)']
FAULT_CALLS = ['deque', 'random.sample', 'sample', 'ReplayMemory.sample', 'deque.__getitem__']

FAULTY = r'''
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(3)
np.random.seed(3)
torch.manual_seed(3)

BATCH, GAMMA, UPDATES = 96, 0.98, 3900


class Lander:
    """Vertical descent: state is (height, speed, fuel, wind), actions are off / soft / full thrust."""

    def __init__(self, n):
        self.n = n
        self.state = self.fresh(n)

    def fresh(self, k):
        s = np.empty((k, 4), dtype=np.float32)
        s[:, 0] = np.random.uniform(0.6, 1.0, k)
        s[:, 1] = np.random.uniform(-0.1, 0.0, k)
        s[:, 2] = 1.0
        s[:, 3] = np.random.normal(0, 0.02, k)
        return s

    def step(self, action):
        s = self.state.copy()
        thrust = 0.06 * action * (s[:, 2] > 0)
        s[:, 1] += -0.03 + thrust + 0.1 * s[:, 3]
        s[:, 0] += s[:, 1] * 0.5
        s[:, 2] = np.maximum(0.0, s[:, 2] - 0.02 * action)
        done = (s[:, 0] <= 0) | (s[:, 0] > 1.5)
        reward = np.where(done, 1.0 - 8.0 * np.abs(s[:, 1]), -0.01).astype(np.float32)
        before, self.state = self.state, s.copy()
        if done.any():
            self.state[done] = self.fresh(int(done.sum()))
        return before, reward, s, done.astype(np.float32)


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.data = deque(maxlen=capacity)

    def push(self, transition):
        self.data.append(transition)

    def sample(self, n):
        rows = random.sample(self.data, n)
        s, a, r, s2, d = zip(*rows)
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r),
                torch.from_numpy(np.stack(s2)), torch.tensor(d))


def make_net():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))


memory = ReplayMemory(250_000)
env = Lander(200)
for _ in range(1100):
    act = np.random.randint(0, 3, env.n)
    s, r, s2, d = env.step(act)
    for row in zip(s, act.tolist(), r.tolist(), s2, d.tolist()):
        memory.push(row)
print("transitions:", len(memory.data))

online, target = make_net(), make_net()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=5e-4)

running = 0.0
for it in range(1, UPDATES + 1):
    s, a, r, s2, d = memory.sample(BATCH)
    with torch.no_grad():
        best = online(s2).argmax(1, keepdim=True)
        goal = r + GAMMA * (1 - d) * target(s2).gather(1, best).squeeze(1)
    q = online(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if it % 200 == 0:
        target.load_state_dict(online.state_dict())
    if it % 650 == 0:
        print(f"update {it}: mean loss {running / 650:.4f}")
        running = 0.0

with torch.no_grad():
    probe = torch.from_numpy(env.fresh(500))
    print("mean start value:", round(online(probe).max(1).values.mean().item(), 3))
'''

CURED = r'''
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(3)
np.random.seed(3)
torch.manual_seed(3)

BATCH, GAMMA, UPDATES = 96, 0.98, 3900


class Lander:
    """Vertical descent: state is (height, speed, fuel, wind), actions are off / soft / full thrust."""

    def __init__(self, n):
        self.n = n
        self.state = self.fresh(n)

    def fresh(self, k):
        s = np.empty((k, 4), dtype=np.float32)
        s[:, 0] = np.random.uniform(0.6, 1.0, k)
        s[:, 1] = np.random.uniform(-0.1, 0.0, k)
        s[:, 2] = 1.0
        s[:, 3] = np.random.normal(0, 0.02, k)
        return s

    def step(self, action):
        s = self.state.copy()
        thrust = 0.06 * action * (s[:, 2] > 0)
        s[:, 1] += -0.03 + thrust + 0.1 * s[:, 3]
        s[:, 0] += s[:, 1] * 0.5
        s[:, 2] = np.maximum(0.0, s[:, 2] - 0.02 * action)
        done = (s[:, 0] <= 0) | (s[:, 0] > 1.5)
        reward = np.where(done, 1.0 - 8.0 * np.abs(s[:, 1]), -0.01).astype(np.float32)
        before, self.state = self.state, s.copy()
        if done.any():
            self.state[done] = self.fresh(int(done.sum()))
        return before, reward, s, done.astype(np.float32)


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.data = []
        self.cursor = 0

    def push(self, transition):
        if len(self.data) < self.capacity:
            self.data.append(transition)
        else:
            self.data[self.cursor] = transition
        self.cursor = (self.cursor + 1) % self.capacity

    def sample(self, n):
        rows = random.sample(self.data, n)
        s, a, r, s2, d = zip(*rows)
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r),
                torch.from_numpy(np.stack(s2)), torch.tensor(d))


def make_net():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))


memory = ReplayMemory(250_000)
env = Lander(200)
for _ in range(1100):
    act = np.random.randint(0, 3, env.n)
    s, r, s2, d = env.step(act)
    for row in zip(s, act.tolist(), r.tolist(), s2, d.tolist()):
        memory.push(row)
print("transitions:", len(memory.data))

online, target = make_net(), make_net()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=5e-4)

running = 0.0
for it in range(1, UPDATES + 1):
    s, a, r, s2, d = memory.sample(BATCH)
    with torch.no_grad():
        best = online(s2).argmax(1, keepdim=True)
        goal = r + GAMMA * (1 - d) * target(s2).gather(1, best).squeeze(1)
    q = online(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if it % 200 == 0:
        target.load_state_dict(online.state_dict())
    if it % 650 == 0:
        print(f"update {it}: mean loss {running / 650:.4f}")
        running = 0.0

with torch.no_grad():
    probe = torch.from_numpy(env.fresh(500))
    print("mean start value:", round(online(probe).max(1).values.mean().item(), 3))
'''
