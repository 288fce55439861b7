NAME = 'Trains a DQN agent that looks for food on a small grid, with a replay memory.'
FAULT = 'Each batch of observations is made with torch.tensor on a tuple of numpy arrays, which converts the numbers one at a time.'
CURE = 'Stack the arrays with np.stack and use torch.from_numpy.'
KIND = 'time'
FAULT_LINES = [
    's = torch.tensor(s, dtype=torch.float32)',
    's2 = torch.tensor(s2, dtype=torch.float32)',
]
FAULT_CALLS = ['tensor', 'sample']
FAULTY = r"""
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

import warnings
warnings.filterwarnings('ignore')

torch.set_num_threads(1)
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class Forage:
    side = 14
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def reset(self):
        self.pos = np.random.randint(0, self.side, 2)
        self.food = np.random.rand(self.side, self.side) < 0.12
        self.t = 0
        return self.obs()

    def obs(self):
        o = np.zeros((2, self.side, self.side), dtype=np.float32)
        o[0, self.pos[0], self.pos[1]] = 1
        o[1] = self.food
        return o

    def step(self, a):
        self.pos = np.clip(self.pos + self.moves[a], 0, self.side - 1)
        r = 1.0 if self.food[tuple(self.pos)] else -0.02
        self.food[tuple(self.pos)] = False
        self.t += 1
        return self.obs(), r, self.t >= 60


class Memory:
    def __init__(self, size=10_000):
        self.buf = deque(maxlen=size)

    def push(self, *item):
        self.buf.append(item)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.buf, n))
        s = torch.tensor(s, dtype=torch.float32)
        a = torch.tensor(a)
        r = torch.tensor(r, dtype=torch.float32)
        s2 = torch.tensor(s2, dtype=torch.float32)
        d = torch.tensor(d, dtype=torch.float32)
        return s, a, r, s2, d


def make_q():
    return nn.Sequential(nn.Flatten(), nn.Linear(392, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4))


q, target = make_q(), make_q()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
mem, env = Memory(), Forage()
steps, returns = 0, []

for episode in range(15):
    s, done, total = env.reset(), False, 0.0
    while not done:
        eps = max(0.1, 1 - steps / 1000)
        if random.random() < eps:
            a = random.randrange(4)
        else:
            with torch.no_grad():
                a = q(torch.from_numpy(s)[None]).argmax().item()
        s2, r, done = env.step(a)
        mem.push(s, a, r, s2, done)
        s, total, steps = s2, total + r, steps + 1
        if len(mem.buf) >= 200:
            bs, ba, br, bs2, bd = mem.sample(64)
            with torch.no_grad():
                goal = br + 0.95 * (1 - bd) * target(bs2).max(1).values
            val = q(bs).gather(1, ba[:, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(val, goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 200 == 0:
            target.load_state_dict(q.state_dict())
    returns.append(total)
    if episode % 5 == 4:
        print(f'episode {episode + 1}: mean return {np.mean(returns[-5:]):.2f}')
"""
CURED = r"""
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

import warnings
warnings.filterwarnings('ignore')

torch.set_num_threads(1)
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class Forage:
    side = 14
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def reset(self):
        self.pos = np.random.randint(0, self.side, 2)
        self.food = np.random.rand(self.side, self.side) < 0.12
        self.t = 0
        return self.obs()

    def obs(self):
        o = np.zeros((2, self.side, self.side), dtype=np.float32)
        o[0, self.pos[0], self.pos[1]] = 1
        o[1] = self.food
        return o

    def step(self, a):
        self.pos = np.clip(self.pos + self.moves[a], 0, self.side - 1)
        r = 1.0 if self.food[tuple(self.pos)] else -0.02
        self.food[tuple(self.pos)] = False
        self.t += 1
        return self.obs(), r, self.t >= 60


class Memory:
    def __init__(self, size=10_000):
        self.buf = deque(maxlen=size)

    def push(self, *item):
        self.buf.append(item)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.buf, n))
        s = torch.from_numpy(np.stack(s))
        a = torch.tensor(a)
        r = torch.tensor(r, dtype=torch.float32)
        s2 = torch.from_numpy(np.stack(s2))
        d = torch.tensor(d, dtype=torch.float32)
        return s, a, r, s2, d


def make_q():
    return nn.Sequential(nn.Flatten(), nn.Linear(392, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4))


q, target = make_q(), make_q()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
mem, env = Memory(), Forage()
steps, returns = 0, []

for episode in range(15):
    s, done, total = env.reset(), False, 0.0
    while not done:
        eps = max(0.1, 1 - steps / 1000)
        if random.random() < eps:
            a = random.randrange(4)
        else:
            with torch.no_grad():
                a = q(torch.from_numpy(s)[None]).argmax().item()
        s2, r, done = env.step(a)
        mem.push(s, a, r, s2, done)
        s, total, steps = s2, total + r, steps + 1
        if len(mem.buf) >= 200:
            bs, ba, br, bs2, bd = mem.sample(64)
            with torch.no_grad():
                goal = br + 0.95 * (1 - bd) * target(bs2).max(1).values
            val = q(bs).gather(1, ba[:, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(val, goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 200 == 0:
            target.load_state_dict(q.state_dict())
    returns.append(total)
    if episode % 5 == 4:
        print(f'episode {episode + 1}: mean return {np.mean(returns[-5:]):.2f}')
"""
