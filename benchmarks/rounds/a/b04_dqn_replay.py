NAME = 'offline-to-online DQN on a point-mass task with a replay memory'
FAULT = 'the whole 200k-entry deque is copied into a list for every mini-batch, only to call random.sample'
CURE = 'keep the memory in a list used as ring buffer, so that random.sample can index it directly'
KIND = 'time'
FAULT_LINES = ['batch = random.sample(list(self.memory), n)', 's, a, r, s2, d = replay.sample(BATCH)']
FAULT_CALLS = ['list', 'sample', 'ReplayMemory.sample', 'random.sample']
FAULTY = '''
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1); np.random.seed(1); torch.manual_seed(1)
CAPACITY, BATCH, GAMMA = 200_000, 64, 0.98
ACTIONS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32) * 0.1


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def extend(self, transitions):
        self.memory.extend(transitions)

    def push(self, *tr):
        self.memory.append(tr)

    def sample(self, n):
        batch = random.sample(list(self.memory), n)
        s, a, r, s2, d = zip(*batch)
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))


def env_step(s, a):
    s2 = np.clip(s + ACTIONS[a] + 0.02 * np.random.randn(2).astype(np.float32), -2, 2)
    dist = float(np.hypot(s2[0], s2[1]))
    return s2, -dist, dist < 0.1


# warm start from logged transitions of the old controller
S = np.random.uniform(-2, 2, (CAPACITY, 2)).astype(np.float32)
A = np.random.randint(0, 5, CAPACITY)
S2 = np.clip(S + ACTIONS[A], -2, 2)
R = -np.hypot(S2[:, 0], S2[:, 1])
replay = ReplayMemory(CAPACITY)
replay.extend(list(zip(S, A.tolist(), R.tolist(), S2, (R > -0.1).tolist())))

qnet = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
target = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
target.load_state_dict(qnet.state_dict())
opt = torch.optim.Adam(qnet.parameters(), lr=1e-3)

state = np.random.uniform(-2, 2, 2).astype(np.float32)
returns, ep_ret, ep_len = [], 0.0, 0
for step in range(1500):
    if random.random() < 0.1:
        action = random.randrange(5)
    else:
        with torch.no_grad():
            action = qnet(torch.from_numpy(state)).argmax().item()
    nxt, reward, done = env_step(state, action)
    replay.push(state, action, reward, nxt, done)
    ep_ret += reward; ep_len += 1
    state = nxt
    if done or ep_len == 60:
        returns.append(ep_ret)
        ep_ret, ep_len = 0.0, 0
        state = np.random.uniform(-2, 2, 2).astype(np.float32)

    s, a, r, s2, d = replay.sample(BATCH)
    with torch.no_grad():
        tgt = r + GAMMA * (1 - d) * target(s2).max(1).values
    q = qnet(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, tgt)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        target.load_state_dict(qnet.state_dict())

print(f"episodes {len(returns)}, mean return of last five {np.mean(returns[-5:]):.3f}")
'''
CURED = '''
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1); np.random.seed(1); torch.manual_seed(1)
CAPACITY, BATCH, GAMMA = 200_000, 64, 0.98
ACTIONS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32) * 0.1


class ReplayMemory:
    def __init__(self, capacity):
        self.memory, self.capacity, self.pos = [], capacity, 0

    def extend(self, transitions):
        self.memory.extend(transitions[: self.capacity - len(self.memory)])

    def push(self, *tr):
        if len(self.memory) < self.capacity:
            self.memory.append(tr)
        else:
            self.memory[self.pos] = tr
            self.pos = (self.pos + 1) % self.capacity

    def sample(self, n):
        batch = random.sample(self.memory, n)
        s, a, r, s2, d = zip(*batch)
        return (torch.from_numpy(np.stack(s)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
                torch.from_numpy(np.stack(s2)), torch.tensor(d, dtype=torch.float32))


def env_step(s, a):
    s2 = np.clip(s + ACTIONS[a] + 0.02 * np.random.randn(2).astype(np.float32), -2, 2)
    dist = float(np.hypot(s2[0], s2[1]))
    return s2, -dist, dist < 0.1


# warm start from logged transitions of the old controller
S = np.random.uniform(-2, 2, (CAPACITY, 2)).astype(np.float32)
A = np.random.randint(0, 5, CAPACITY)
S2 = np.clip(S + ACTIONS[A], -2, 2)
R = -np.hypot(S2[:, 0], S2[:, 1])
replay = ReplayMemory(CAPACITY)
replay.extend(list(zip(S, A.tolist(), R.tolist(), S2, (R > -0.1).tolist())))

qnet = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
target = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
target.load_state_dict(qnet.state_dict())
opt = torch.optim.Adam(qnet.parameters(), lr=1e-3)

state = np.random.uniform(-2, 2, 2).astype(np.float32)
returns, ep_ret, ep_len = [], 0.0, 0
for step in range(1500):
    if random.random() < 0.1:
        action = random.randrange(5)
    else:
        with torch.no_grad():
            action = qnet(torch.from_numpy(state)).argmax().item()
    nxt, reward, done = env_step(state, action)
    replay.push(state, action, reward, nxt, done)
    ep_ret += reward; ep_len += 1
    state = nxt
    if done or ep_len == 60:
        returns.append(ep_ret)
        ep_ret, ep_len = 0.0, 0
        state = np.random.uniform(-2, 2, 2).astype(np.float32)

    s, a, r, s2, d = replay.sample(BATCH)
    with torch.no_grad():
        tgt = r + GAMMA * (1 - d) * target(s2).max(1).values
    q = qnet(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, tgt)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        target.load_state_dict(qnet.state_dict())

print(f"episodes {len(returns)}, mean return of last five {np.mean(returns[-5:]):.3f}")
'''
