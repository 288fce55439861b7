NAME = 'Trains a PPO agent for simulated traffic lights with a KL penalty towards a frozen anchor policy.'
FAULT = 'For each minibatch the frozen anchor policy is evaluated on the whole rollout and only the rows of the minibatch are used.'
CURE = 'Evaluate the anchor on the states of the minibatch only (or once per rollout) instead of on the entire rollout.'
KIND = 'time'
FAULT_LINES = ['ref, _ = self.anchor(states)', 'return torch.distributions.kl_divergence(dist, Categorical(logits=ref.logits[idx])).mean()', 'loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean() + self.beta * self.drift(s, dist, idx)']
FAULT_CALLS = ['drift', 'anchor', 'forward', 'linear', 'tanh']
FAULTY = r"""
import copy
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(3)


class ToyTraffic:
    '''64 parallel junctions; the agent picks one of 6 light phases.'''

    def __init__(self, n=64, lanes=24):
        self.n, self.lanes = n, lanes
        self.release = (torch.rand(6, lanes) < 0.35).float() * 2.0
        self.state = torch.rand(n, lanes) * 3

    def step(self, phase):
        self.state = torch.relu(self.state - self.release[phase]) + torch.rand(self.n, self.lanes) * 0.9
        return self.state.clone(), -self.state.mean(1)


class ActorCritic(nn.Module):
    def __init__(self, lanes=24, width=192):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(lanes, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, 6), nn.Linear(width, 1)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class PPO:
    def __init__(self, env, horizon=64, minibatch=256, epochs=4, gamma=0.97, beta=0.02):
        self.env, self.horizon, self.minibatch, self.epochs = env, horizon, minibatch, epochs
        self.gamma, self.beta = gamma, beta
        self.net = ActorCritic()
        self.anchor = copy.deepcopy(self.net).requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=4e-4)

    @torch.no_grad()
    def collect(self):
        s, rows = self.env.state.clone(), []
        for _ in range(self.horizon):
            dist, value = self.net(s)
            a = dist.sample()
            nxt, r = self.env.step(a)
            rows.append((s, a, dist.log_prob(a), value, r))
            s = nxt
        ret, out = self.net(s)[1], []
        for s_, a, lp, v, r in reversed(rows):
            ret = r + self.gamma * ret
            out.append((s_, a, lp, ret - v, ret))
        return [torch.cat(col) for col in zip(*out)], rows

    def drift(self, states, dist, idx):
        with torch.no_grad():
            ref, _ = self.anchor(states)
        return torch.distributions.kl_divergence(dist, Categorical(logits=ref.logits[idx])).mean()

    def update(self, batch):
        s, a, lp, adv, ret = batch
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(self.epochs):
            for idx in torch.randperm(len(s)).split(self.minibatch):
                dist, v = self.net(s[idx])
                ratio = (dist.log_prob(a[idx]) - lp[idx]).exp()
                pg = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
                vf = (v - ret[idx]).pow(2).mean()
                loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean() + self.beta * self.drift(s, dist, idx)
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.opt.step()
        return loss.item()


agent = PPO(ToyTraffic())
for it in range(10):
    batch, rows = agent.collect()
    loss = agent.update(batch)
    if it % 3 == 0:
        reward = torch.stack([r[-1] for r in rows]).mean().item()
        print(f"iter {it} reward {reward:.3f} loss {loss:.2f}")
"""
CURED = r"""
import copy
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(3)


class ToyTraffic:
    '''64 parallel junctions; the agent picks one of 6 light phases.'''

    def __init__(self, n=64, lanes=24):
        self.n, self.lanes = n, lanes
        self.release = (torch.rand(6, lanes) < 0.35).float() * 2.0
        self.state = torch.rand(n, lanes) * 3

    def step(self, phase):
        self.state = torch.relu(self.state - self.release[phase]) + torch.rand(self.n, self.lanes) * 0.9
        return self.state.clone(), -self.state.mean(1)


class ActorCritic(nn.Module):
    def __init__(self, lanes=24, width=192):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(lanes, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, 6), nn.Linear(width, 1)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class PPO:
    def __init__(self, env, horizon=64, minibatch=256, epochs=4, gamma=0.97, beta=0.02):
        self.env, self.horizon, self.minibatch, self.epochs = env, horizon, minibatch, epochs
        self.gamma, self.beta = gamma, beta
        self.net = ActorCritic()
        self.anchor = copy.deepcopy(self.net).requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=4e-4)

    @torch.no_grad()
    def collect(self):
        s, rows = self.env.state.clone(), []
        for _ in range(self.horizon):
            dist, value = self.net(s)
            a = dist.sample()
            nxt, r = self.env.step(a)
            rows.append((s, a, dist.log_prob(a), value, r))
            s = nxt
        ret, out = self.net(s)[1], []
        for s_, a, lp, v, r in reversed(rows):
            ret = r + self.gamma * ret
            out.append((s_, a, lp, ret - v, ret))
        return [torch.cat(col) for col in zip(*out)], rows

    def drift(self, states, dist, idx):
        with torch.no_grad():
            ref, _ = self.anchor(states[idx])
        return torch.distributions.kl_divergence(dist, Categorical(logits=ref.logits)).mean()

    def update(self, batch):
        s, a, lp, adv, ret = batch
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(self.epochs):
            for idx in torch.randperm(len(s)).split(self.minibatch):
                dist, v = self.net(s[idx])
                ratio = (dist.log_prob(a[idx]) - lp[idx]).exp()
                pg = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
                vf = (v - ret[idx]).pow(2).mean()
                loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean() + self.beta * self.drift(s, dist, idx)
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.opt.step()
        return loss.item()


agent = PPO(ToyTraffic())
for it in range(10):
    batch, rows = agent.collect()
    loss = agent.update(batch)
    if it % 3 == 0:
        reward = torch.stack([r[-1] for r in rows]).mean().item()
        print(f"iter {it} reward {reward:.3f} loss {loss:.2f}")
"""
