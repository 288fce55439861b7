NAME = "Trains an averaged DQN with three target snapshots on a vectorised cart-pole written in NumPy."
FAULT = "The bootstrap target of the snapshots is computed with autograd on, so each update also records and back-propagates through networks that are never optimised."
CURE = "Compute the targets under torch.no_grad()."
KIND = "time"
FAULT_LINES = ["next_q = torch.stack([t(s2) for t in self.targets]).mean(0).max(dim=1).values", "y = r + self.gamma * (1.0 - done) * next_q"]
FAULT_CALLS = ["update", "backward", "run_backward", "_engine_run_backward", "linear", "addmm", "mm", "AddmmBackward0"]
FAULTY = r'''
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)


class CartPoles:
    """n independent cart-poles (Euler steps, as in the classic benchmark)."""

    def __init__(self, n):
        self.n = n
        self.s = rng.uniform(-0.05, 0.05, (n, 4))
        self.age = np.zeros(n, dtype=int)
        self.finished = []

    def step(self, a):
        x, xd, th, thd = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * thd ** 2 * s) / 1.1
        tha = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * tha * c / 1.1
        nxt = np.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        done = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.21)
        self.age += 1
        over = done | (self.age >= 300)
        self.finished += self.age[over].tolist()
        self.s = np.where(over[:, None], rng.uniform(-0.05, 0.05, (self.n, 4)), nxt)
        self.age[over] = 0
        return nxt, np.where(done, -1.0, 0.1), done


class Replay:
    def __init__(self, size):
        self.size, self.pos, self.full = size, 0, False
        self.s = np.zeros((size, 4), np.float32)
        self.s2 = np.zeros((size, 4), np.float32)
        self.a = np.zeros(size, np.int64)
        self.r = np.zeros(size, np.float32)
        self.d = np.zeros(size, np.float32)

    def add(self, s, a, r, s2, d):
        k = (self.pos + np.arange(len(a))) % self.size
        self.s[k], self.a[k], self.r[k], self.s2[k], self.d[k] = s, a, r, s2, d
        self.full |= self.pos + len(a) >= self.size
        self.pos = (self.pos + len(a)) % self.size

    def sample(self, n):
        k = rng.integers(0, self.size if self.full else self.pos, n)
        return [torch.from_numpy(z[k]) for z in (self.s, self.a, self.r, self.s2, self.d)]


def q_net(h=192):
    return nn.Sequential(nn.Linear(4, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 2))


class Agent:
    """Averaged DQN: bootstraps from the mean of the last few snapshots."""

    def __init__(self, gamma=0.98, lr=5e-4, n_targets=3):
        self.policy = q_net()
        self.targets = [copy.deepcopy(self.policy) for _ in range(n_targets)]
        self.gamma = gamma
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=lr)

    def act(self, s, eps):
        with torch.no_grad():
            best = self.policy(torch.from_numpy(s).float()).argmax(1).numpy()
        return np.where(rng.random(len(s)) < eps, rng.integers(0, 2, len(s)), best)

    def snapshot(self):
        oldest = self.targets.pop(0)
        oldest.load_state_dict(self.policy.state_dict())
        self.targets.append(oldest)

    def update(self, batch):
        s, a, r, s2, done = batch
        q = self.policy(s).gather(1, a[:, None]).squeeze(1)
        next_q = torch.stack([t(s2) for t in self.targets]).mean(0).max(dim=1).values
        y = r + self.gamma * (1.0 - done) * next_q
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


env, memory, agent = CartPoles(16), Replay(20_000), Agent()
for step in range(1, 901):
    s = env.s.astype(np.float32)
    a = agent.act(s, eps=max(0.05, 1 - step / 500))
    s2, r, d = env.step(a)
    memory.add(s, a, r, s2, d)
    if step > 30:
        loss = agent.update(memory.sample(512))
    if step % 60 == 0:
        agent.snapshot()
    if step % 300 == 0:
        print(f"step {step}: {len(env.finished)} episodes, last 50 mean length {np.mean(env.finished[-50:]):.1f}, loss {loss:.4f}")
'''
CURED = FAULTY.replace("        next_q = torch.stack([t(s2) for t in self.targets]).mean(0).max(dim=1).values\n        y = r + self.gamma * (1.0 - done) * next_q\n",
    "        with torch.no_grad():\n            next_q = torch.stack([t(s2) for t in self.targets]).mean(0).max(dim=1).values\n            y = r + self.gamma * (1.0 - done) * next_q\n")
