NAME = 'Trains an advantage actor-critic with an LSTM cell on a vectorised cart-pole written in torch.'
FAULT = "Autograd's anomaly detection is left switched on for the whole training."
CURE = 'Do not switch it on.'
KIND = 'time'
FAULT_LINES = [
    'torch.autograd.set_detect_anomaly(True)',
    'loss.backward()',
]
FAULT_CALLS = ['set_detect_anomaly', 'backward']

FAULTY = r'''import math
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)


class CartPoles:
    """A batch of cart-poles whose velocities are hidden from the agent."""

    def __init__(self, n):
        self.n = n
        self.state = self._fresh(n)
        self.age = torch.zeros(n)

    @staticmethod
    def _fresh(n):
        return torch.rand(n, 4) * 0.1 - 0.05

    def observe(self):
        return self.state[:, [0, 2]] * torch.tensor([1.0, 5.0])

    def step(self, action):
        x, dx, th, dth = self.state.unbind(1)
        force = action.float() * 20 - 10
        sin, cos = th.sin(), th.cos()
        temp = (force + 0.05 * dth ** 2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        acc = temp - 0.05 * acc_th * cos / 1.1
        dt = 0.02
        self.state = torch.stack(
            [x + dt * dx, dx + dt * acc, th + dt * dth, dth + dt * acc_th], dim=1
        )
        self.age += 1
        failed = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 12 * math.pi / 180)
        done = failed | (self.age >= 200)
        ages = self.age[done]
        self.state[done] = self._fresh(int(done.sum()))
        self.age[done] = 0
        return torch.ones(self.n), done.float(), ages


class Agent(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(2, hidden)
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, obs, state):
        h, c = self.cell(obs, state)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(1), (h, c)


N_ENVS, HORIZON, UPDATES, GAMMA = 16, 32, 130, 0.98
env, agent = CartPoles(N_ENVS), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
state = (torch.zeros(N_ENVS, agent.hidden), torch.zeros(N_ENVS, agent.hidden))
lengths = []

for update in range(1, UPDATES + 1):
    log_probs, values, entropies, rewards, dones = [], [], [], [], []
    for _ in range(HORIZON):
        dist, value, state = agent(env.observe(), state)
        action = dist.sample()
        reward, done, ages = env.step(action)
        alive = (1 - done).unsqueeze(1)
        state = (state[0] * alive, state[1] * alive)
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(reward)
        dones.append(done)
        lengths.extend(ages.tolist())
    state = (state[0].detach(), state[1].detach())
    with torch.no_grad():
        running = agent(env.observe(), state)[1]
        returns = []
        for reward, done in zip(reversed(rewards), reversed(dones)):
            running = reward + GAMMA * running * (1 - done)
            returns.append(running)
        returns = torch.stack(returns[::-1])
    values = torch.stack(values)
    advantage = returns - values.detach()
    actor = -(torch.stack(log_probs) * advantage).mean()
    critic = (returns - values).pow(2).mean()
    loss = actor + 0.25 * critic - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    if update % 26 == 0:
        print(f"update {update}: critic {critic.item():.2f} length {sum(lengths[-50:]) / 50:.1f}")
'''

CURED = r'''import math
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(0)


class CartPoles:
    """A batch of cart-poles whose velocities are hidden from the agent."""

    def __init__(self, n):
        self.n = n
        self.state = self._fresh(n)
        self.age = torch.zeros(n)

    @staticmethod
    def _fresh(n):
        return torch.rand(n, 4) * 0.1 - 0.05

    def observe(self):
        return self.state[:, [0, 2]] * torch.tensor([1.0, 5.0])

    def step(self, action):
        x, dx, th, dth = self.state.unbind(1)
        force = action.float() * 20 - 10
        sin, cos = th.sin(), th.cos()
        temp = (force + 0.05 * dth ** 2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        acc = temp - 0.05 * acc_th * cos / 1.1
        dt = 0.02
        self.state = torch.stack(
            [x + dt * dx, dx + dt * acc, th + dt * dth, dth + dt * acc_th], dim=1
        )
        self.age += 1
        failed = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 12 * math.pi / 180)
        done = failed | (self.age >= 200)
        ages = self.age[done]
        self.state[done] = self._fresh(int(done.sum()))
        self.age[done] = 0
        return torch.ones(self.n), done.float(), ages


class Agent(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(2, hidden)
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, obs, state):
        h, c = self.cell(obs, state)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(1), (h, c)


N_ENVS, HORIZON, UPDATES, GAMMA = 16, 32, 130, 0.98
env, agent = CartPoles(N_ENVS), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
state = (torch.zeros(N_ENVS, agent.hidden), torch.zeros(N_ENVS, agent.hidden))
lengths = []

for update in range(1, UPDATES + 1):
    log_probs, values, entropies, rewards, dones = [], [], [], [], []
    for _ in range(HORIZON):
        dist, value, state = agent(env.observe(), state)
        action = dist.sample()
        reward, done, ages = env.step(action)
        alive = (1 - done).unsqueeze(1)
        state = (state[0] * alive, state[1] * alive)
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(reward)
        dones.append(done)
        lengths.extend(ages.tolist())
    state = (state[0].detach(), state[1].detach())
    with torch.no_grad():
        running = agent(env.observe(), state)[1]
        returns = []
        for reward, done in zip(reversed(rewards), reversed(dones)):
            running = reward + GAMMA * running * (1 - done)
            returns.append(running)
        returns = torch.stack(returns[::-1])
    values = torch.stack(values)
    advantage = returns - values.detach()
    actor = -(torch.stack(log_probs) * advantage).mean()
    critic = (returns - values).pow(2).mean()
    loss = actor + 0.25 * critic - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    if update % 26 == 0:
        print(f"update {update}: critic {critic.item():.2f} length {sum(lengths[-50:]) / 50:.1f}")
'''
