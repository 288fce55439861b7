NAME = 'Trains a DQN agent with a replay memory on a vectorised point-chasing task.'
FAULT = 'The replay memory is a deque, so random sampling indexes into its middle, which walks the linked blocks for every one of the 128 draws.'
CURE = 'Keep the transitions in a list used as a ring buffer, which indexes in constant time.'
KIND = 'time'
FAULT_LINES = ['s, a, r, s2, d = zip(*random.sample(self.data, k))', 'self.data = deque(maxlen=capacity)', 's, a, r, s2, d = memory.sample(128)']
FAULT_CALLS = ['sample', 'random.sample', 'deque', 'deque.__getitem__']
FAULTY = r"""import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
rng = np.random.default_rng(0)

N_ENVS, N_ACTIONS, OBS = 96, 5, 8
MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32) * 0.1


class ChaseEnv:
    '''Points on a plane that chase drifting targets.'''

    def __init__(self, n):
        self.n = n
        self.pos = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
        self.vel = np.zeros((n, 2), np.float32)
        self.goal = rng.uniform(-1, 1, (n, 2)).astype(np.float32)

    def obs(self):
        gap = self.goal - self.pos
        return np.concatenate([self.pos, self.vel, self.goal, gap], axis=1)

    def step(self, action):
        self.vel = 0.8 * self.vel + MOVES[action]
        self.pos = np.clip(self.pos + 0.3 * self.vel, -2, 2)
        dist = np.linalg.norm(self.goal - self.pos, axis=1)
        done = dist < 0.1
        reward = (-dist + 5.0 * done).astype(np.float32)
        k = int(done.sum())
        if k:
            self.goal[done] = rng.uniform(-1, 1, (k, 2))
        return self.obs(), reward, done.astype(np.float32)


class ReplayMemory:
    def __init__(self, capacity):
        self.data = deque(maxlen=capacity)

    def push(self, transition):
        self.data.append(transition)

    def sample(self, k):
        s, a, r, s2, d = zip(*random.sample(self.data, k))
        return (torch.from_numpy(np.stack(s)), torch.from_numpy(np.array(a)), torch.from_numpy(np.array(r)),
                torch.from_numpy(np.stack(s2)), torch.from_numpy(np.array(d)))


def make_q():
    return nn.Sequential(nn.Linear(OBS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, N_ACTIONS))


q, target = make_q(), make_q()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = ReplayMemory(1_000_000)
env = ChaseEnv(N_ENVS)
obs = env.obs()


def interact(eps):
    global obs
    action = rng.integers(0, N_ACTIONS, N_ENVS)
    if eps < 1.0:
        with torch.no_grad():
            greedy = q(torch.from_numpy(obs)).argmax(1).numpy()
        action = np.where(rng.random(N_ENVS) < eps, action, greedy)
    nxt, reward, done = env.step(action)
    for item in zip(obs, action, reward, nxt, done):
        memory.push(item)
    obs = nxt
    return reward.mean()


for _ in range(4000):
    interact(1.0)

scores, losses = [], []
for step in range(1, 1801):
    scores.append(interact(max(0.05, 1.0 - step / 1200)))
    s, a, r, s2, d = memory.sample(128)
    with torch.no_grad():
        y = r + 0.97 * (1 - d) * target(s2).max(1).values
    pred = q(s).gather(1, a[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step % 100 == 0:
        target.load_state_dict(q.state_dict())
    if step % 300 == 0:
        print(f"step {step}  stored {len(memory.data)}  reward {np.mean(scores[-100:]):.3f}  loss {np.mean(losses[-100:]):.4f}")
"""
CURED = r"""import random
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
rng = np.random.default_rng(0)

N_ENVS, N_ACTIONS, OBS = 96, 5, 8
MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32) * 0.1


class ChaseEnv:
    '''Points on a plane that chase drifting targets.'''

    def __init__(self, n):
        self.n = n
        self.pos = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
        self.vel = np.zeros((n, 2), np.float32)
        self.goal = rng.uniform(-1, 1, (n, 2)).astype(np.float32)

    def obs(self):
        gap = self.goal - self.pos
        return np.concatenate([self.pos, self.vel, self.goal, gap], axis=1)

    def step(self, action):
        self.vel = 0.8 * self.vel + MOVES[action]
        self.pos = np.clip(self.pos + 0.3 * self.vel, -2, 2)
        dist = np.linalg.norm(self.goal - self.pos, axis=1)
        done = dist < 0.1
        reward = (-dist + 5.0 * done).astype(np.float32)
        k = int(done.sum())
        if k:
            self.goal[done] = rng.uniform(-1, 1, (k, 2))
        return self.obs(), reward, done.astype(np.float32)


class ReplayMemory:
    def __init__(self, capacity):
        self.data, self.capacity, self.head = [], capacity, 0

    def push(self, transition):
        if len(self.data) < self.capacity:
            self.data.append(transition)
        else:
            self.data[self.head] = transition
            self.head = (self.head + 1) % self.capacity

    def sample(self, k):
        s, a, r, s2, d = zip(*random.sample(self.data, k))
        return (torch.from_numpy(np.stack(s)), torch.from_numpy(np.array(a)), torch.from_numpy(np.array(r)),
                torch.from_numpy(np.stack(s2)), torch.from_numpy(np.array(d)))


def make_q():
    return nn.Sequential(nn.Linear(OBS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, N_ACTIONS))


q, target = make_q(), make_q()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = ReplayMemory(1_000_000)
env = ChaseEnv(N_ENVS)
obs = env.obs()


def interact(eps):
    global obs
    action = rng.integers(0, N_ACTIONS, N_ENVS)
    if eps < 1.0:
        with torch.no_grad():
            greedy = q(torch.from_numpy(obs)).argmax(1).numpy()
        action = np.where(rng.random(N_ENVS) < eps, action, greedy)
    nxt, reward, done = env.step(action)
    for item in zip(obs, action, reward, nxt, done):
        memory.push(item)
    obs = nxt
    return reward.mean()


for _ in range(4000):
    interact(1.0)

scores, losses = [], []
for step in range(1, 1801):
    scores.append(interact(max(0.05, 1.0 - step / 1200)))
    s, a, r, s2, d = memory.sample(128)
    with torch.no_grad():
        y = r + 0.97 * (1 - d) * target(s2).max(1).values
    pred = q(s).gather(1, a[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step % 100 == 0:
        target.load_state_dict(q.state_dict())
    if step % 300 == 0:
        print(f"step {step}  stored {len(memory.data)}  reward {np.mean(scores[-100:]):.3f}  loss {np.mean(losses[-100:]):.4f}")
"""
