NAME = 'h16_dqn_lidar_rover'
FAULT = 'Each DQN update builds its batch with torch.FloatTensor(tuple of 128 numpy arrays), which converts element by element in Python.'
CURE = 'Join the arrays with numpy first (torch.from_numpy(np.stack(...)) / np.array) and convert once.'
KIND = 'time'
FAULT_LINES = [
    '    s = torch.FloatTensor(s)',
    '    s2 = torch.FloatTensor(s2)',
]
FAULT_CALLS = ['torch.FloatTensor', 'FloatTensor', 'torch.Tensor.__new__', 'type']
FAULTY = r'''
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)
random.seed(4)
np.random.seed(4)

N_BEAMS, N_OBST = 32, 8
OBS_DIM, N_ACT = N_BEAMS + 3, 3

class RoverEnv:
    def reset(self):
        self.pos = np.zeros(2)
        self.heading = np.random.uniform(-np.pi, np.pi)
        ang = np.random.uniform(-np.pi, np.pi, N_OBST)
        rad = np.random.uniform(1.5, 5.0, N_OBST)
        self.obst = np.stack([rad * np.cos(ang), rad * np.sin(ang)], 1)
        g = np.random.uniform(-np.pi, np.pi)
        self.goal = 5.5 * np.array([np.cos(g), np.sin(g)])
        self.t = 0
        return self.observe()

    def observe(self):
        beams = self.heading + np.linspace(-np.pi, np.pi, N_BEAMS, endpoint=False)
        d = self.obst - self.pos
        dist = np.hypot(d[:, 0], d[:, 1])
        diff = np.abs((np.arctan2(d[:, 1], d[:, 0])[:, None] - beams + np.pi) % (2 * np.pi) - np.pi)
        hit = diff < np.arctan2(0.4, dist)[:, None]
        scan = np.where(hit, dist[:, None], 6.0).min(0) / 6.0
        g = self.goal - self.pos
        bearing = np.arctan2(g[1], g[0]) - self.heading
        tail = [np.cos(bearing), np.sin(bearing), np.hypot(*g) / 6.0]
        return np.concatenate([scan, tail]).astype(np.float32)

    def step(self, a):
        before = np.hypot(*(self.goal - self.pos))
        self.heading += (a - 1) * 0.35
        self.pos = self.pos + 0.25 * np.array([np.cos(self.heading), np.sin(self.heading)])
        after = np.hypot(*(self.goal - self.pos))
        self.t += 1
        crash = np.hypot(*(self.obst - self.pos).T).min() < 0.4
        reached = after < 0.4
        reward = (before - after) - 2.0 * crash + 3.0 * reached
        return self.observe(), float(reward), bool(crash or reached or self.t >= 80)

def make_q():
    return nn.Sequential(nn.Linear(OBS_DIM, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, N_ACT))

q_net, target_net = make_q(), make_q()
target_net.load_state_dict(q_net.state_dict())
opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
replay = deque(maxlen=20000)

def learn(batch_size=128, gamma=0.97):
    s, a, r, s2, done = zip(*random.sample(replay, batch_size))
    s = torch.FloatTensor(s)
    s2 = torch.FloatTensor(s2)
    a, r = torch.tensor(a), torch.tensor(r)
    done = torch.tensor(done, dtype=torch.float32)
    with torch.no_grad():
        best = q_net(s2).argmax(1, keepdim=True)
        goal = r + gamma * (1 - done) * target_net(s2).gather(1, best).squeeze(1)
    q = q_net(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()

env, obs, ep_ret, returns = RoverEnv(), None, 0.0, []
obs = env.reset()
for step in range(1, 2801):
    eps = max(0.05, 1.0 - step / 1500)
    if random.random() < eps:
        act = random.randrange(N_ACT)
    else:
        with torch.no_grad():
            act = q_net(torch.from_numpy(obs)).argmax().item()
    nxt, reward, done = env.step(act)
    replay.append((obs, act, reward, nxt, done))
    ep_ret += reward
    obs = nxt
    if done:
        returns.append(ep_ret)
        obs, ep_ret = env.reset(), 0.0
    if step > 256:
        learn()
    if step % 200 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if step % 700 == 0:
        print(f"step {step}: episodes {len(returns)}  mean return {np.mean(returns[-20:]):.3f}")
'''
CURED = r'''
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)
random.seed(4)
np.random.seed(4)

N_BEAMS, N_OBST = 32, 8
OBS_DIM, N_ACT = N_BEAMS + 3, 3

class RoverEnv:
    def reset(self):
        self.pos = np.zeros(2)
        self.heading = np.random.uniform(-np.pi, np.pi)
        ang = np.random.uniform(-np.pi, np.pi, N_OBST)
        rad = np.random.uniform(1.5, 5.0, N_OBST)
        self.obst = np.stack([rad * np.cos(ang), rad * np.sin(ang)], 1)
        g = np.random.uniform(-np.pi, np.pi)
        self.goal = 5.5 * np.array([np.cos(g), np.sin(g)])
        self.t = 0
        return self.observe()

    def observe(self):
        beams = self.heading + np.linspace(-np.pi, np.pi, N_BEAMS, endpoint=False)
        d = self.obst - self.pos
        dist = np.hypot(d[:, 0], d[:, 1])
        diff = np.abs((np.arctan2(d[:, 1], d[:, 0])[:, None] - beams + np.pi) % (2 * np.pi) - np.pi)
        hit = diff < np.arctan2(0.4, dist)[:, None]
        scan = np.where(hit, dist[:, None], 6.0).min(0) / 6.0
        g = self.goal - self.pos
        bearing = np.arctan2(g[1], g[0]) - self.heading
        tail = [np.cos(bearing), np.sin(bearing), np.hypot(*g) / 6.0]
        return np.concatenate([scan, tail]).astype(np.float32)

    def step(self, a):
        before = np.hypot(*(self.goal - self.pos))
        self.heading += (a - 1) * 0.35
        self.pos = self.pos + 0.25 * np.array([np.cos(self.heading), np.sin(self.heading)])
        after = np.hypot(*(self.goal - self.pos))
        self.t += 1
        crash = np.hypot(*(self.obst - self.pos).T).min() < 0.4
        reached = after < 0.4
        reward = (before - after) - 2.0 * crash + 3.0 * reached
        return self.observe(), float(reward), bool(crash or reached or self.t >= 80)

def make_q():
    return nn.Sequential(nn.Linear(OBS_DIM, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, N_ACT))

q_net, target_net = make_q(), make_q()
target_net.load_state_dict(q_net.state_dict())
opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
replay = deque(maxlen=20000)

def learn(batch_size=128, gamma=0.97):
    s, a, r, s2, done = zip(*random.sample(replay, batch_size))
    s = torch.from_numpy(np.stack(s))
    s2 = torch.from_numpy(np.stack(s2))
    a, r = torch.tensor(a), torch.tensor(r)
    done = torch.tensor(done, dtype=torch.float32)
    with torch.no_grad():
        best = q_net(s2).argmax(1, keepdim=True)
        goal = r + gamma * (1 - done) * target_net(s2).gather(1, best).squeeze(1)
    q = q_net(s).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()

env, obs, ep_ret, returns = RoverEnv(), None, 0.0, []
obs = env.reset()
for step in range(1, 2801):
    eps = max(0.05, 1.0 - step / 1500)
    if random.random() < eps:
        act = random.randrange(N_ACT)
    else:
        with torch.no_grad():
            act = q_net(torch.from_numpy(obs)).argmax().item()
    nxt, reward, done = env.step(act)
    replay.append((obs, act, reward, nxt, done))
    ep_ret += reward
    obs = nxt
    if done:
        returns.append(ep_ret)
        obs, ep_ret = env.reset(), 0.0
    if step > 256:
        learn()
    if step % 200 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if step % 700 == 0:
        print(f"step {step}: episodes {len(returns)}  mean return {np.mean(returns[-20:]):.3f}")
'''
