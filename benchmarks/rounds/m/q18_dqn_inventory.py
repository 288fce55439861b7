NAME = 'Double DQN on an inventory control problem, one environment step and one update at a time.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(27)

CAP, LEAD, STEPS, WARM = 40, 3, 2600, 300
ORDERS = [0, 5, 10, 15, 20]
GAMMA, TAU, BATCH = 0.97, 0.01, 128


class Inventory:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.t = 0
        self.stock, self.pipe = 20, [0] * LEAD

    def observe(self):
        season = 2 * np.pi * (self.t % 28) / 28
        return np.array([self.stock / CAP, *[p / 20 for p in self.pipe], np.sin(season), np.cos(season)],
                        dtype=np.float32)

    def step(self, action):
        self.stock = min(CAP, self.stock + self.pipe.pop(0))
        self.pipe.append(ORDERS[action])
        demand = self.rng.poisson(8 + 4 * np.sin(2 * np.pi * (self.t % 28) / 28))
        sold = min(self.stock, demand)
        self.stock -= sold
        cost = 0.1 * self.stock + (1.0 if action else 0.0) + 0.5 * (demand - sold)
        self.t += 1
        return self.observe(), 0.1 * (1.5 * sold - cost)


class Replay:
    def __init__(self, size, n_obs):
        self.obs = torch.empty(size, n_obs)
        self.nxt = torch.empty(size, n_obs)
        self.act = torch.empty(size, dtype=torch.long)
        self.rew = torch.empty(size)
        self.n = 0

    def add(self, o, a, r, o2):
        i = self.n % len(self.obs)
        self.obs[i], self.act[i], self.rew[i], self.nxt[i] = o, a, r, o2
        self.n += 1

    def sample(self, k):
        idx = torch.randint(0, min(self.n, len(self.obs)), (k,))
        return self.obs[idx], self.act[idx], self.rew[idx], self.nxt[idx]


def q_net(n_obs, width=256):
    return nn.Sequential(nn.Linear(n_obs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, len(ORDERS)))


env = Inventory(27)
obs = torch.from_numpy(env.observe())
online, target = q_net(len(obs)), q_net(len(obs))
target.load_state_dict(online.state_dict())
on_params, tg_params = list(online.parameters()), list(target.parameters())
opt = torch.optim.Adam(on_params, lr=5e-4, fused=True)
replay = Replay(2000, len(obs))
explore = np.random.default_rng(5)
rewards = []
for step in range(STEPS):
    eps = max(0.05, 1.0 - step / 1200)
    if explore.random() < eps:
        action = int(explore.integers(len(ORDERS)))
    else:
        with torch.no_grad():
            action = online(obs).argmax().item()
    nxt, reward = env.step(action)
    nxt = torch.from_numpy(nxt)
    replay.add(obs, action, reward, nxt)
    obs = nxt
    rewards.append(reward)
    if step < WARM:
        continue

    o, a, r, o2 = replay.sample(BATCH)
    with torch.no_grad():
        best = online(o2).argmax(1, keepdim=True)
        y = r + GAMMA * target(o2).gather(1, best).squeeze(1)
    q = online(o).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(q, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        torch._foreach_lerp_(tg_params, on_params, TAU)
    if (step + 1) % 650 == 0:
        print(f"step {step + 1}: mean reward {np.mean(rewards[-400:]):+.4f}  loss {loss.item():.5f}")
print(f"first 300 {np.mean(rewards[:300]):+.4f}  last 300 {np.mean(rewards[-300:]):+.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 6.50 s (6.16, 6.83). Peak RSS 308 MB. Change tried: online net called once on obs and next obs together: 7.54 s (7.51, 7.56), gain -16.0%, peak RSS 310 MB.'
