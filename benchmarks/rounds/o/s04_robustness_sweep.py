NAME = 'Imitation-learnt balancing policy, checked on many carts with varied physics'
FAULT = 'In the sweep the policy network is called once per cart (batch of one) inside a loop over the 96 carts at every control step, although all carts step together'
CURE = 'One call of the policy on the whole observation matrix per control step'
KIND = 'time'
FAULT_LINES = ['for i in range(fleet.n):', 'a = policy(torch.from_numpy(obs[i]).unsqueeze(0))', 'actions[i] = a.item()']
FAULT_CALLS = ['policy', 'linear', 'torch.from_numpy', 'item']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
SEED = 12
np.random.seed(SEED)
torch.manual_seed(SEED)


class CartFleet:
    "Inverted pendulums on carts, each with its own masses, length and friction."
    dt = 0.02

    def __init__(self, n, rng, spread):
        self.n = n
        u = lambda lo, hi: rng.uniform(lo, hi, n)
        self.mc = 1.0 * (1 + spread * u(-1, 1))
        self.mp = 0.12 * (1 + spread * u(-1, 1))
        self.l = 0.5 * (1 + spread * u(-1, 1))
        self.fr = 0.15 * (1 + spread * u(-1, 1))
        self.state = np.stack([u(-.5, .5), u(-.2, .2), u(-.12, .12), u(-.2, .2)], axis=1)

    def observe(self):
        x, v, th, w = self.state.T
        return np.stack([x, v, np.sin(th), np.cos(th), w], axis=1).astype(np.float32)

    def step(self, force):
        x, v, th, w = self.state.T
        s, c = np.sin(th), np.cos(th)
        total = self.mc + self.mp
        tmp = (force - self.fr * v + self.mp * self.l * w ** 2 * s) / total
        acc_th = (9.81 * s - c * tmp - 0.1 * w) / (self.l * (4 / 3 - self.mp * c ** 2 / total))
        acc_x = tmp - self.mp * self.l * acc_th * c / total
        v2, w2 = v + self.dt * acc_x, w + self.dt * acc_th
        self.state = np.stack([x + self.dt * v2, v2, th + self.dt * w2, w2], axis=1)
        return np.where(np.abs(th) < 0.2, 1.0, 0.0) - 0.05 * x ** 2


def expert(state):
    x, v, th, w = state.T
    return np.clip(1.2 * x + 2.2 * v + 32.0 * th + 7.0 * w, -12, 12)


# ---- demonstrations from the hand-tuned controller
rng = np.random.default_rng(SEED)
demo = CartFleet(400, rng, spread=0.2)
O, U = [], []
for t in range(120):
    f = expert(demo.state)
    O.append(demo.observe())
    U.append(f.astype(np.float32))
    demo.step(f + rng.normal(0, 0.5, demo.n))
O = torch.from_numpy(np.concatenate(O))
U = torch.from_numpy(np.concatenate(U)).unsqueeze(1) / 12.0

policy = nn.Sequential(nn.Linear(5, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
for epoch in range(6):
    perm = torch.randperm(len(O))
    tot = 0.0
    for idx in perm.split(512):
        loss = nn.functional.mse_loss(policy(O[idx]), U[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    print(f"clone epoch {epoch}: mse {tot / len(O):.5f}")


@torch.no_grad()
def sweep(spread, n_carts=96, horizon=150):
    fleet = CartFleet(n_carts, np.random.default_rng(99), spread)
    ret = np.zeros(n_carts)
    for t in range(horizon):
        obs = fleet.observe()
        actions = np.zeros(fleet.n)
        for i in range(fleet.n):
            a = policy(torch.from_numpy(obs[i]).unsqueeze(0))
            actions[i] = a.item()
        ret += fleet.step(12.0 * actions)
    return ret


for spread in (0.0, 0.15, 0.3, 0.45, 0.6):
    r = sweep(spread)
    print(f"spread {spread:.2f}: mean return {r.mean():7.2f}  worst {r.min():7.2f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
SEED = 12
np.random.seed(SEED)
torch.manual_seed(SEED)


class CartFleet:
    "Inverted pendulums on carts, each with its own masses, length and friction."
    dt = 0.02

    def __init__(self, n, rng, spread):
        self.n = n
        u = lambda lo, hi: rng.uniform(lo, hi, n)
        self.mc = 1.0 * (1 + spread * u(-1, 1))
        self.mp = 0.12 * (1 + spread * u(-1, 1))
        self.l = 0.5 * (1 + spread * u(-1, 1))
        self.fr = 0.15 * (1 + spread * u(-1, 1))
        self.state = np.stack([u(-.5, .5), u(-.2, .2), u(-.12, .12), u(-.2, .2)], axis=1)

    def observe(self):
        x, v, th, w = self.state.T
        return np.stack([x, v, np.sin(th), np.cos(th), w], axis=1).astype(np.float32)

    def step(self, force):
        x, v, th, w = self.state.T
        s, c = np.sin(th), np.cos(th)
        total = self.mc + self.mp
        tmp = (force - self.fr * v + self.mp * self.l * w ** 2 * s) / total
        acc_th = (9.81 * s - c * tmp - 0.1 * w) / (self.l * (4 / 3 - self.mp * c ** 2 / total))
        acc_x = tmp - self.mp * self.l * acc_th * c / total
        v2, w2 = v + self.dt * acc_x, w + self.dt * acc_th
        self.state = np.stack([x + self.dt * v2, v2, th + self.dt * w2, w2], axis=1)
        return np.where(np.abs(th) < 0.2, 1.0, 0.0) - 0.05 * x ** 2


def expert(state):
    x, v, th, w = state.T
    return np.clip(1.2 * x + 2.2 * v + 32.0 * th + 7.0 * w, -12, 12)


# ---- demonstrations from the hand-tuned controller
rng = np.random.default_rng(SEED)
demo = CartFleet(400, rng, spread=0.2)
O, U = [], []
for t in range(120):
    f = expert(demo.state)
    O.append(demo.observe())
    U.append(f.astype(np.float32))
    demo.step(f + rng.normal(0, 0.5, demo.n))
O = torch.from_numpy(np.concatenate(O))
U = torch.from_numpy(np.concatenate(U)).unsqueeze(1) / 12.0

policy = nn.Sequential(nn.Linear(5, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
for epoch in range(6):
    perm = torch.randperm(len(O))
    tot = 0.0
    for idx in perm.split(512):
        loss = nn.functional.mse_loss(policy(O[idx]), U[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    print(f"clone epoch {epoch}: mse {tot / len(O):.5f}")


@torch.no_grad()
def sweep(spread, n_carts=96, horizon=150):
    fleet = CartFleet(n_carts, np.random.default_rng(99), spread)
    ret = np.zeros(n_carts)
    for t in range(horizon):
        obs = fleet.observe()
        actions = policy(torch.from_numpy(obs)).squeeze(1).double().numpy()
        ret += fleet.step(12.0 * actions)
    return ret


for spread in (0.0, 0.15, 0.3, 0.45, 0.6):
    r = sweep(spread)
    print(f"spread {spread:.2f}: mean return {r.mean():7.2f}  worst {r.min():7.2f}")
"""
