NAME = 'DQN on a small pixel catch game with an experience replay memory'
FAULT = 'The replay memory holds the 84x84 frames as scaled float32 (observation and next observation), four times the bytes of the 8-bit frames the game makes'
CURE = 'Keep the frames as uint8 in the memory and scale to float32 when a batch is sampled'
KIND = 'memory'
FAULT_LINES = ['self.obs = np.zeros((capacity, 84, 84), dtype=np.float32)', 'self.nxt = np.zeros((capacity, 84, 84), dtype=np.float32)', 'self.obs[k] = o.astype(np.float32) / 255.0', 'self.nxt[k] = o2.astype(np.float32) / 255.0']
FAULT_CALLS = ['np.zeros', 'ReplayMemory.__init__', 'push', 'astype']
FAULTY = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class CatchGame:
    "A ball falls, the paddle at the bottom must catch it; 84x84 grey frames."

    def __init__(self, rng):
        self.rng = rng
        self.reset()

    def reset(self):
        self.bx, self.by = int(self.rng.integers(4, 80)), 4
        self.vx = int(self.rng.integers(-3, 4))
        self.px = 42
        return self.frame()

    def frame(self):
        f = np.full((84, 84), 20, dtype=np.uint8)
        f[self.by - 2:self.by + 3, max(self.bx - 2, 0):self.bx + 3] = 255
        f[79:83, max(self.px - 8, 0):self.px + 8] = 160
        return f

    def step(self, action):
        self.px = int(np.clip(self.px + (action - 1) * 5, 8, 76))
        self.bx = int(np.clip(self.bx + self.vx, 3, 80))
        self.by += 5
        done = self.by >= 76
        reward = (1.0 if abs(self.bx - self.px) <= 9 else -1.0) if done else 0.0
        return self.frame(), reward, done


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity, self.pos, self.size = capacity, 0, 0
        self.obs = np.zeros((capacity, 84, 84), dtype=np.float32)
        self.nxt = np.zeros((capacity, 84, 84), dtype=np.float32)
        self.act = np.zeros(capacity, dtype=np.int64)
        self.rew = np.zeros(capacity, dtype=np.float32)
        self.end = np.zeros(capacity, dtype=np.float32)

    def push(self, o, a, r, o2, done):
        k = self.pos
        self.obs[k] = o.astype(np.float32) / 255.0
        self.nxt[k] = o2.astype(np.float32) / 255.0
        self.act[k], self.rew[k], self.end[k] = a, r, done
        self.pos = (k + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, n):
        i = np.random.randint(0, self.size, n)
        o, o2 = self.obs[i], self.nxt[i]
        return [torch.from_numpy(v) for v in (o[:, None], self.act[i], self.rew[i], o2[:, None], self.end[i])]


def q_net():
    return nn.Sequential(nn.Conv2d(1, 8, 8, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 4, stride=2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(16 * 81, 128), nn.ReLU(), nn.Linear(128, 3))


def learn(q, target, opt, batch):
    o, a, r, o2, end = batch
    with torch.no_grad():
        y = r + 0.97 * (1 - end) * target(o2).max(1).values
    pred = q(o).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


game = CatchGame(np.random.default_rng(3))
q, target = q_net(), q_net()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = ReplayMemory(20000)
obs, losses, rewards = game.reset(), [], []
for t in range(1, 20001):
    action = random.randrange(3)
    if random.random() < 0.5:
        action = int(np.sign(game.bx - game.px)) + 1     # scripted player fills half of the memory
    nxt, reward, done = game.step(action)
    memory.push(obs, action, reward, nxt, done)
    obs = game.reset() if done else nxt
    if done:
        rewards.append(reward)
    if t > 2000 and t % 60 == 0:
        losses.append(learn(q, target, opt, memory.sample(32)))
    if t % 2500 == 0:
        target.load_state_dict(q.state_dict())
        print(f"{t:6d} frames  mean reward {np.mean(rewards[-150:]):+.3f}  loss {np.mean(losses[-40:] or [0]):.4f}")

with torch.no_grad():
    o = memory.sample(256)[0]
print(f"memory {memory.size}, mean Q of 256 samples {q(o).mean().item():.4f}")
"""
CURED = r"""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class CatchGame:
    "A ball falls, the paddle at the bottom must catch it; 84x84 grey frames."

    def __init__(self, rng):
        self.rng = rng
        self.reset()

    def reset(self):
        self.bx, self.by = int(self.rng.integers(4, 80)), 4
        self.vx = int(self.rng.integers(-3, 4))
        self.px = 42
        return self.frame()

    def frame(self):
        f = np.full((84, 84), 20, dtype=np.uint8)
        f[self.by - 2:self.by + 3, max(self.bx - 2, 0):self.bx + 3] = 255
        f[79:83, max(self.px - 8, 0):self.px + 8] = 160
        return f

    def step(self, action):
        self.px = int(np.clip(self.px + (action - 1) * 5, 8, 76))
        self.bx = int(np.clip(self.bx + self.vx, 3, 80))
        self.by += 5
        done = self.by >= 76
        reward = (1.0 if abs(self.bx - self.px) <= 9 else -1.0) if done else 0.0
        return self.frame(), reward, done


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity, self.pos, self.size = capacity, 0, 0
        self.obs = np.zeros((capacity, 84, 84), dtype=np.uint8)
        self.nxt = np.zeros((capacity, 84, 84), dtype=np.uint8)
        self.act = np.zeros(capacity, dtype=np.int64)
        self.rew = np.zeros(capacity, dtype=np.float32)
        self.end = np.zeros(capacity, dtype=np.float32)

    def push(self, o, a, r, o2, done):
        k = self.pos
        self.obs[k] = o
        self.nxt[k] = o2
        self.act[k], self.rew[k], self.end[k] = a, r, done
        self.pos = (k + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, n):
        i = np.random.randint(0, self.size, n)
        o, o2 = (v[i].astype(np.float32) / 255.0 for v in (self.obs, self.nxt))
        return [torch.from_numpy(v) for v in (o[:, None], self.act[i], self.rew[i], o2[:, None], self.end[i])]


def q_net():
    return nn.Sequential(nn.Conv2d(1, 8, 8, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 4, stride=2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(16 * 81, 128), nn.ReLU(), nn.Linear(128, 3))


def learn(q, target, opt, batch):
    o, a, r, o2, end = batch
    with torch.no_grad():
        y = r + 0.97 * (1 - end) * target(o2).max(1).values
    pred = q(o).gather(1, a[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


game = CatchGame(np.random.default_rng(3))
q, target = q_net(), q_net()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = ReplayMemory(20000)
obs, losses, rewards = game.reset(), [], []
for t in range(1, 20001):
    action = random.randrange(3)
    if random.random() < 0.5:
        action = int(np.sign(game.bx - game.px)) + 1     # scripted player fills half of the memory
    nxt, reward, done = game.step(action)
    memory.push(obs, action, reward, nxt, done)
    obs = game.reset() if done else nxt
    if done:
        rewards.append(reward)
    if t > 2000 and t % 60 == 0:
        losses.append(learn(q, target, opt, memory.sample(32)))
    if t % 2500 == 0:
        target.load_state_dict(q.state_dict())
        print(f"{t:6d} frames  mean reward {np.mean(rewards[-150:]):+.3f}  loss {np.mean(losses[-40:] or [0]):.4f}")

with torch.no_grad():
    o = memory.sample(256)[0]
print(f"memory {memory.size}, mean Q of 256 samples {q(o).mean().item():.4f}")
"""
