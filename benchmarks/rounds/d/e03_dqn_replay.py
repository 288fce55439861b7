NAME = 'e03_dqn_replay'

FAULT = 'To draw 64 transitions the replay buffer turns all its stored Python lists into arrays and tensors first and indexes them afterwards, at each update.'

CURE = 'Pick the sampled transitions from the lists first and stack only those (or keep preallocated arrays).'

KIND = 'time'

FAULT_LINES = [
    '        s = torch.tensor(np.array(self.states))[idx]',
    '        s2 = torch.tensor(np.array(self.next_states))[idx]',
    '        r = torch.tensor(self.rewards)[idx]',
]

FAULT_CALLS = [
    'numpy.array',
    'torch.tensor',
    'ReplayBuffer.sample',
]

FAULTY = r'''
import copy
import random
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0); np.random.seed(0); torch.manual_seed(0)


class Lander1D:
    """Keep a small craft near a moving pad; 3 thrust levels, 8 observations."""

    def reset(self):
        self.p, self.v, self.t = np.random.uniform(-1, 1), 0.0, 0
        self.phase = np.random.uniform(0, 6.28)
        return self._obs()

    def _obs(self):
        pad = 0.5 * np.sin(0.05 * self.t + self.phase)
        d = self.p - pad
        return np.array([self.p, self.v, pad, d, abs(d), d * self.v,
                         np.cos(0.05 * self.t + self.phase), 1.0], dtype=np.float32)

    def step(self, a):
        self.v = 0.95 * self.v + 0.05 * (a - 1)
        self.p += self.v
        self.t += 1
        o = self._obs()
        return o, float(-abs(o[3])), self.t >= 200


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity = capacity
        self.states, self.actions, self.rewards = [], [], []
        self.next_states, self.dones = [], []

    def push(self, s, a, r, s2, d):
        if len(self.states) >= self.capacity:
            for col in (self.states, self.actions, self.rewards, self.next_states, self.dones):
                col.pop(0)
        self.states.append(s); self.actions.append(a); self.rewards.append(r)
        self.next_states.append(s2); self.dones.append(float(d))

    def sample(self, n):
        idx = np.random.randint(0, len(self.states), n)
        s = torch.tensor(np.array(self.states))[idx]
        a = torch.tensor(self.actions)[idx]
        r = torch.tensor(self.rewards)[idx]
        s2 = torch.tensor(np.array(self.next_states))[idx]
        d = torch.tensor(self.dones)[idx]
        return s, a, r, s2, d


q = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
q_target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
buffer, env = ReplayBuffer(8000), Lander1D()
obs, score, scores = env.reset(), 0.0, []

for step in range(9000):
    eps = max(0.05, 1 - step / 4000)
    if random.random() < eps:
        a = random.randrange(3)
    else:
        with torch.no_grad():
            a = q(torch.from_numpy(obs)).argmax().item()
    nxt, r, done = env.step(a)
    buffer.push(obs, a, r, nxt, done)
    obs, score = nxt, score + r
    if done:
        scores.append(score)
        obs, score = env.reset(), 0.0

    if step > 500 and step % 6 == 0:
        s, act, rew, s2, d = buffer.sample(64)
        with torch.no_grad():
            target = rew + 0.99 * (1 - d) * q_target(s2).max(1).values
        loss = nn.functional.smooth_l1_loss(q(s).gather(1, act[:, None]).squeeze(1), target)
        opt.zero_grad(); loss.backward(); opt.step()
    if step % 300 == 0:
        q_target.load_state_dict(q.state_dict())

print("first episodes", np.mean(scores[:5]).round(2), " last episodes", np.mean(scores[-5:]).round(2))
'''

CURED = r'''
import copy
import random
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0); np.random.seed(0); torch.manual_seed(0)


class Lander1D:
    """Keep a small craft near a moving pad; 3 thrust levels, 8 observations."""

    def reset(self):
        self.p, self.v, self.t = np.random.uniform(-1, 1), 0.0, 0
        self.phase = np.random.uniform(0, 6.28)
        return self._obs()

    def _obs(self):
        pad = 0.5 * np.sin(0.05 * self.t + self.phase)
        d = self.p - pad
        return np.array([self.p, self.v, pad, d, abs(d), d * self.v,
                         np.cos(0.05 * self.t + self.phase), 1.0], dtype=np.float32)

    def step(self, a):
        self.v = 0.95 * self.v + 0.05 * (a - 1)
        self.p += self.v
        self.t += 1
        o = self._obs()
        return o, float(-abs(o[3])), self.t >= 200


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity = capacity
        self.states, self.actions, self.rewards = [], [], []
        self.next_states, self.dones = [], []

    def push(self, s, a, r, s2, d):
        if len(self.states) >= self.capacity:
            for col in (self.states, self.actions, self.rewards, self.next_states, self.dones):
                col.pop(0)
        self.states.append(s); self.actions.append(a); self.rewards.append(r)
        self.next_states.append(s2); self.dones.append(float(d))

    def sample(self, n):
        idx = np.random.randint(0, len(self.states), n)
        s = torch.tensor(np.array([self.states[i] for i in idx]))
        a = torch.tensor([self.actions[i] for i in idx])
        r = torch.tensor([self.rewards[i] for i in idx])
        s2 = torch.tensor(np.array([self.next_states[i] for i in idx]))
        d = torch.tensor([self.dones[i] for i in idx])
        return s, a, r, s2, d


q = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
q_target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
buffer, env = ReplayBuffer(8000), Lander1D()
obs, score, scores = env.reset(), 0.0, []

for step in range(9000):
    eps = max(0.05, 1 - step / 4000)
    if random.random() < eps:
        a = random.randrange(3)
    else:
        with torch.no_grad():
            a = q(torch.from_numpy(obs)).argmax().item()
    nxt, r, done = env.step(a)
    buffer.push(obs, a, r, nxt, done)
    obs, score = nxt, score + r
    if done:
        scores.append(score)
        obs, score = env.reset(), 0.0

    if step > 500 and step % 6 == 0:
        s, act, rew, s2, d = buffer.sample(64)
        with torch.no_grad():
            target = rew + 0.99 * (1 - d) * q_target(s2).max(1).values
        loss = nn.functional.smooth_l1_loss(q(s).gather(1, act[:, None]).squeeze(1), target)
        opt.zero_grad(); loss.backward(); opt.step()
    if step % 300 == 0:
        q_target.load_state_dict(q.state_dict())

print("first episodes", np.mean(scores[:5]).round(2), " last episodes", np.mean(scores[-5:]).round(2))
'''
