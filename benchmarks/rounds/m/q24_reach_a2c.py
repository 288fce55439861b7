NAME = 'Actor-critic on a point-mass reaching task with observation normalisation.'

FAULT = 'The observation normaliser keeps all observations and recomputes mean and standard deviation over the whole list at every step.'

CURE = 'Keep running sums (count, sum, sum of squares) and update them with each observation.'

KIND = 'time'

FAULT_LINES = ['data = np.asarray(self.seen)', 'std = data.std(axis=0) + 1e-3', 'return (obs - data.mean(axis=0)) / std']

FAULT_CALLS = ['ObsNormalizer.__call__', 'numpy.asarray', 'numpy.ndarray.std']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

ACTIONS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [0, 0]], dtype=np.float64)
EPISODES, HORIZON, GAMMA = 130, 40, 0.97


class Reach:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, 2)
        self.vel = np.zeros(2)
        self.goal = self.rng.uniform(-1, 1, 2)
        return self.observe()

    def observe(self):
        return np.concatenate([self.pos, 10 * self.vel, self.goal, 5 * (self.goal - self.pos)])

    def step(self, action):
        self.vel = 0.8 * self.vel + 0.05 * ACTIONS[action]
        self.pos = np.clip(self.pos + self.vel, -1.5, 1.5)
        dist = float(np.hypot(*(self.goal - self.pos)))
        return self.observe(), -dist, dist < 0.05


class ObsNormalizer:
    def __init__(self, size):
        self.seen = []

    def __call__(self, obs):
        self.seen.append(obs)
        data = np.asarray(self.seen)
        std = data.std(axis=0) + 1e-3
        return (obs - data.mean(axis=0)) / std


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, n_act + 1)

    def forward(self, x):
        out = self.head(self.body(x))
        return out[..., :-1], out[..., -1]


def discounted(rewards):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + GAMMA * acc
        out.append(acc)
    return torch.tensor(out[::-1])


env, norm = Reach(19), ObsNormalizer(8)
net = ActorCritic(8, len(ACTIONS))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5, fused=True)
returns = []
for ep in range(EPISODES):
    obs, states, actions, rewards = env.reset(), [], [], []
    for _ in range(HORIZON):
        s = torch.from_numpy(norm(obs)).float()
        with torch.no_grad():
            logits, _ = net(s)
        a = torch.multinomial(F.softmax(logits, -1), 1).item()
        obs, r, done = env.step(a)
        states.append(s)
        actions.append(a)
        rewards.append(r)
        if done:
            break
    logits, value = net(torch.stack(states))
    target = discounted(rewards)
    logp = F.log_softmax(logits, -1)
    chosen = logp[torch.arange(len(actions)), torch.tensor(actions)]
    adv = (target - value).detach()
    loss = -(chosen * adv).mean() + 0.5 * F.mse_loss(value, target) + 0.01 * (logp.exp() * logp).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    returns.append(sum(rewards))
    if (ep + 1) % 65 == 0:
        print(f"episode {ep + 1}: mean return {np.mean(returns[-30:]):.3f}")
print(f"best return {max(returns):.3f}, last loss {loss.item():.3f}")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

ACTIONS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [0, 0]], dtype=np.float64)
EPISODES, HORIZON, GAMMA = 130, 40, 0.97


class Reach:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, 2)
        self.vel = np.zeros(2)
        self.goal = self.rng.uniform(-1, 1, 2)
        return self.observe()

    def observe(self):
        return np.concatenate([self.pos, 10 * self.vel, self.goal, 5 * (self.goal - self.pos)])

    def step(self, action):
        self.vel = 0.8 * self.vel + 0.05 * ACTIONS[action]
        self.pos = np.clip(self.pos + self.vel, -1.5, 1.5)
        dist = float(np.hypot(*(self.goal - self.pos)))
        return self.observe(), -dist, dist < 0.05


class ObsNormalizer:
    def __init__(self, size):
        self.n = 0
        self.total = np.zeros(size)
        self.square = np.zeros(size)

    def __call__(self, obs):
        self.n += 1
        self.total += obs
        self.square += obs * obs
        mean = self.total / self.n
        std = np.sqrt(np.maximum(self.square / self.n - mean * mean, 0.0)) + 1e-3
        return (obs - mean) / std


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, n_act + 1)

    def forward(self, x):
        out = self.head(self.body(x))
        return out[..., :-1], out[..., -1]


def discounted(rewards):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + GAMMA * acc
        out.append(acc)
    return torch.tensor(out[::-1])


env, norm = Reach(19), ObsNormalizer(8)
net = ActorCritic(8, len(ACTIONS))
opt = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5, fused=True)
returns = []
for ep in range(EPISODES):
    obs, states, actions, rewards = env.reset(), [], [], []
    for _ in range(HORIZON):
        s = torch.from_numpy(norm(obs)).float()
        with torch.no_grad():
            logits, _ = net(s)
        a = torch.multinomial(F.softmax(logits, -1), 1).item()
        obs, r, done = env.step(a)
        states.append(s)
        actions.append(a)
        rewards.append(r)
        if done:
            break
    logits, value = net(torch.stack(states))
    target = discounted(rewards)
    logp = F.log_softmax(logits, -1)
    chosen = logp[torch.arange(len(actions)), torch.tensor(actions)]
    adv = (target - value).detach()
    loss = -(chosen * adv).mean() + 0.5 * F.mse_loss(value, target) + 0.01 * (logp.exp() * logp).sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    returns.append(sum(rewards))
    if (ep + 1) % 65 == 0:
        print(f"episode {ep + 1}: mean return {np.mean(returns[-30:]):.3f}")
print(f"best return {max(returns):.3f}, last loss {loss.item():.3f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2/2 rounds: faulty 5.72 s (5.91, 5.54), cured 2.83 s (2.97, 2.69); share gained (faulty - cured) / faulty = 51%. Peak RSS 308 MB / 306 MB. Printed results identical.'
