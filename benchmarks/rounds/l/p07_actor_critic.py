NAME = 'Trains an actor-critic agent on a batch of simulated carts with poles.'
FAULT = 'f-strings passed to logger.debug format whole tensors at every step although the debug level is off.'
CURE = 'Pass the tensors as logging arguments ("%s"), which are formatted only where the message is printed.'
KIND = 'time'
FAULT_LINES = [
    'log.debug(f"t={t} state={state} probs={dist.probs}")',
    'log.debug(f"rewards={reward} done={done}")',
]
FAULT_CALLS = [
    'torch.Tensor.__format__',
    'torch.Tensor.__repr__',
    'torch._tensor_str._str',
    '_tensor_str',
    'Tensor.__format__',
    'logging.Logger.debug',
    'aten::item',
]

FAULTY = r"""
import logging
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("a2c")

n_env, horizon, gamma = 64, 32, 0.98


class Carts:
    def __init__(self, n):
        self.n = n
        self.state = torch.empty(n, 4).uniform_(-0.05, 0.05)
        self.age = torch.zeros(n)

    def step(self, action):
        x, v, th, om = self.state.unbind(1)
        force = torch.where(action == 1, 10.0, -10.0)
        s, c = th.sin(), th.cos()
        tmp = (force + 0.05 * om ** 2 * s) / 1.1
        acc_th = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        acc = tmp - 0.05 * acc_th * c / 1.1
        self.state = torch.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * om, om + 0.02 * acc_th], 1)
        self.age += 1
        done = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 0.21)
        fresh = torch.empty(self.n, 4).uniform_(-0.05, 0.05)
        self.state = torch.where(done[:, None], fresh, self.state)
        self.age[done] = 0
        return self.state, torch.where(done, -1.0, 1.0), done


body = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
actor, critic = nn.Linear(256, 2), nn.Linear(256, 1)
params = [*body.parameters(), *actor.parameters(), *critic.parameters()]
opt = torch.optim.Adam(params, lr=7e-4)

env = Carts(n_env)
state = env.state
for update in range(44):
    logps, values, rewards, masks, ents = [], [], [], [], []
    for t in range(horizon):
        h = body(state)
        dist = torch.distributions.Categorical(logits=actor(h))
        log.debug(f"t={t} state={state} probs={dist.probs}")
        action = dist.sample()
        logps.append(dist.log_prob(action))
        ents.append(dist.entropy())
        values.append(critic(h).squeeze(-1))
        state, reward, done = env.step(action)
        log.debug(f"rewards={reward} done={done}")
        rewards.append(reward)
        masks.append(1.0 - done.float())
    with torch.no_grad():
        ret = critic(body(state)).squeeze(-1)
    returns = []
    for r, m in zip(reversed(rewards), reversed(masks)):
        ret = r + gamma * m * ret
        returns.append(ret)
    returns = torch.stack(returns[::-1])
    values, logps = torch.stack(values), torch.stack(logps)
    adv = returns - values
    loss = -(logps * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 0.5)
    opt.step()
    if update % 16 == 0:
        log.info("update %d loss %.3f", update, loss.item())

print(f"mean age {env.age.mean().item():.2f}, last loss {loss.item():.4f}, value {values.mean().item():.4f}")
"""

CURED = r"""
import logging
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("a2c")

n_env, horizon, gamma = 64, 32, 0.98


class Carts:
    def __init__(self, n):
        self.n = n
        self.state = torch.empty(n, 4).uniform_(-0.05, 0.05)
        self.age = torch.zeros(n)

    def step(self, action):
        x, v, th, om = self.state.unbind(1)
        force = torch.where(action == 1, 10.0, -10.0)
        s, c = th.sin(), th.cos()
        tmp = (force + 0.05 * om ** 2 * s) / 1.1
        acc_th = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        acc = tmp - 0.05 * acc_th * c / 1.1
        self.state = torch.stack([x + 0.02 * v, v + 0.02 * acc, th + 0.02 * om, om + 0.02 * acc_th], 1)
        self.age += 1
        done = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 0.21)
        fresh = torch.empty(self.n, 4).uniform_(-0.05, 0.05)
        self.state = torch.where(done[:, None], fresh, self.state)
        self.age[done] = 0
        return self.state, torch.where(done, -1.0, 1.0), done


body = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
actor, critic = nn.Linear(256, 2), nn.Linear(256, 1)
params = [*body.parameters(), *actor.parameters(), *critic.parameters()]
opt = torch.optim.Adam(params, lr=7e-4)

env = Carts(n_env)
state = env.state
for update in range(44):
    logps, values, rewards, masks, ents = [], [], [], [], []
    for t in range(horizon):
        h = body(state)
        dist = torch.distributions.Categorical(logits=actor(h))
        log.debug("t=%d state=%s probs=%s", t, state, dist.probs)
        action = dist.sample()
        logps.append(dist.log_prob(action))
        ents.append(dist.entropy())
        values.append(critic(h).squeeze(-1))
        state, reward, done = env.step(action)
        log.debug("rewards=%s done=%s", reward, done)
        rewards.append(reward)
        masks.append(1.0 - done.float())
    with torch.no_grad():
        ret = critic(body(state)).squeeze(-1)
    returns = []
    for r, m in zip(reversed(rewards), reversed(masks)):
        ret = r + gamma * m * ret
        returns.append(ret)
    returns = torch.stack(returns[::-1])
    values, logps = torch.stack(values), torch.stack(logps)
    adv = returns - values
    loss = -(logps * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 0.5)
    opt.step()
    if update % 16 == 0:
        log.info("update %d loss %.3f", update, loss.item())

print(f"mean age {env.age.mean().item():.2f}, last loss {loss.item():.4f}, value {values.mean().item():.4f}")
"""
