NAME = 'g04_offline_q'
FAULT = 'np.random.choice(..., replace=False) shuffles the index range of the whole transition log for each minibatch of 128.'
CURE = 'Draw the minibatch with a numpy Generator, whose choice without replacement does not touch the whole range.'
KIND = 'time'
FAULT_LINES = [
    '        idx = np.random.choice(self.n, size, replace=False)',
    '    s, a, r, s2, d = log.sample(128)',
]
FAULT_CALLS = ['numpy.random.choice', 'numpy.random.RandomState.choice', 'numpy.random.RandomState.permutation']

FAULTY = r'''
import copy
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(1)
torch.manual_seed(1)


class TransitionLog:
    """logged behaviour of the old thermostat controller (4 sensors, 3 actions)"""

    def __init__(self, n):
        rng = np.random.default_rng(5)
        self.n = n
        self.s = rng.normal(size=(n, 4)).astype(np.float32)
        self.a = rng.integers(0, 3, size=n)
        push = (self.a - 1)[:, None] * np.array([[0.3, -0.1, 0.0, 0.2]])
        self.s2 = (0.9 * self.s + push + 0.05 * rng.normal(size=(n, 4))).astype(np.float32)
        self.r = (-np.abs(self.s2[:, 0]) - 0.05 * (self.a != 1)).astype(np.float32)
        self.done = (rng.random(n) < 0.02).astype(np.float32)

    def sample(self, size):
        idx = np.random.choice(self.n, size, replace=False)
        return (torch.from_numpy(self.s[idx]), torch.from_numpy(self.a[idx]),
                torch.from_numpy(self.r[idx]), torch.from_numpy(self.s2[idx]),
                torch.from_numpy(self.done[idx]))


log = TransitionLog(200_000)
q = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
q_target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
gamma, tau = 0.95, 0.01

td = []
for step in range(2200):
    s, a, r, s2, d = log.sample(128)
    with torch.no_grad():
        best = q(s2).argmax(1, keepdim=True)              # double DQN
        y = r + gamma * (1 - d) * q_target(s2).gather(1, best).squeeze(1)
    pred = q(s).gather(1, a[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, pt in zip(q.parameters(), q_target.parameters()):
            pt.lerp_(p, tau)
    td.append(loss.item())
    if step % 500 == 499:
        print(step + 1, "td loss", np.mean(td[-500:]).round(4))

with torch.no_grad():
    v = q(torch.from_numpy(log.s[:5000])).max(1).values
print("mean value of logged states: %.2f" % v.mean().item())
'''

CURED = r'''
import copy
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(1)
torch.manual_seed(1)


class TransitionLog:
    """logged behaviour of the old thermostat controller (4 sensors, 3 actions)"""

    def __init__(self, n):
        rng = np.random.default_rng(5)
        self.n = n
        self.rng = np.random.default_rng(1)
        self.s = rng.normal(size=(n, 4)).astype(np.float32)
        self.a = rng.integers(0, 3, size=n)
        push = (self.a - 1)[:, None] * np.array([[0.3, -0.1, 0.0, 0.2]])
        self.s2 = (0.9 * self.s + push + 0.05 * rng.normal(size=(n, 4))).astype(np.float32)
        self.r = (-np.abs(self.s2[:, 0]) - 0.05 * (self.a != 1)).astype(np.float32)
        self.done = (rng.random(n) < 0.02).astype(np.float32)

    def sample(self, size):
        idx = self.rng.choice(self.n, size, replace=False)
        return (torch.from_numpy(self.s[idx]), torch.from_numpy(self.a[idx]),
                torch.from_numpy(self.r[idx]), torch.from_numpy(self.s2[idx]),
                torch.from_numpy(self.done[idx]))


log = TransitionLog(200_000)
q = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
q_target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
gamma, tau = 0.95, 0.01

td = []
for step in range(2200):
    s, a, r, s2, d = log.sample(128)
    with torch.no_grad():
        best = q(s2).argmax(1, keepdim=True)              # double DQN
        y = r + gamma * (1 - d) * q_target(s2).gather(1, best).squeeze(1)
    pred = q(s).gather(1, a[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, pt in zip(q.parameters(), q_target.parameters()):
            pt.lerp_(p, tau)
    td.append(loss.item())
    if step % 500 == 499:
        print(step + 1, "td loss", np.mean(td[-500:]).round(4))

with torch.no_grad():
    v = q(torch.from_numpy(log.s[:5000])).max(1).values
print("mean value of logged states: %.2f" % v.mean().item())
'''
