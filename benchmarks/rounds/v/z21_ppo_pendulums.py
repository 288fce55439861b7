NAME = 'Trains a PPO agent on 64 vectorised made-up pendulums with generalised advantage estimation.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The backward Python loop of the advantage estimate and the step-by-step rollout are sequential by nature and cheap beside the PPO epochs, whose repeated forward passes are needed because the policy changes after each update.'
GOOD = r"""import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)
N_ENVS, HORIZON, GAMMA, LAM, CLIP = 64, 64, 0.95, 0.95, 0.2


class Pendulums:
    def __init__(self, n):
        self.state = rng.uniform(-1, 1, (n, 2)) * [np.pi, 1.0]
        self.age = rng.integers(0, 100, n)

    def obs(self):
        th, w = self.state.T
        return torch.tensor(np.stack([np.cos(th), np.sin(th), w / 8], 1), dtype=torch.float32)

    def step(self, action):
        th, w = self.state.T
        torque = (action - 2) * 1.0
        th_n = (th + np.pi) % (2 * np.pi) - np.pi
        reward = -(th_n ** 2 + 0.1 * w ** 2 + 0.001 * torque ** 2) / 100
        w = np.clip(w + (6.0 * np.sin(th) + 3.0 * torque) * 0.05, -8, 8)
        self.state = np.stack([th + w * 0.05, w], 1)
        self.age += 1
        done = self.age >= 100
        self.state[done] = rng.uniform(-1, 1, (done.sum(), 2)) * [np.pi, 1.0]
        self.age[done] = 0
        return self.obs(), torch.tensor(reward, dtype=torch.float32), torch.tensor(done, dtype=torch.float32)


class ActorCritic(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi = nn.Linear(width, 5)
        self.v = nn.Linear(width, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


@torch.no_grad()
def rollout(net, env, obs):
    store = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    for _ in range(HORIZON):
        dist, value = net(obs)
        act = dist.sample()
        nxt, rew, done = env.step(act.numpy())
        for key, item in zip(store, (obs, act, dist.log_prob(act), value, rew, done)):
            store[key].append(item)
        obs = nxt
    data = {k: torch.stack(v) for k, v in store.items()}
    last = net(obs)[1]
    adv = torch.zeros_like(data["rew"])
    running = torch.zeros(N_ENVS)
    for t in reversed(range(HORIZON)):
        follow = last if t == HORIZON - 1 else data["val"][t + 1]
        alive = 1 - data["done"][t]
        delta = data["rew"][t] + GAMMA * follow * alive - data["val"][t]
        running = delta + GAMMA * LAM * alive * running
        adv[t] = running
    data["adv"], data["ret"] = adv, adv + data["val"]
    return {k: v.flatten(0, 1) for k, v in data.items()}, obs


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
env = Pendulums(N_ENVS)
obs = env.obs()

for it in range(1, 31):
    data, obs = rollout(net, env, obs)
    for epoch in range(6):
        for idx in torch.randperm(N_ENVS * HORIZON).split(1024):
            dist, value = net(data["obs"][idx])
            adv = data["adv"][idx]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            ratio = (dist.log_prob(data["act"][idx]) - data["logp"][idx]).exp()
            policy = -torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv).mean()
            critic = (value - data["ret"][idx]).square().mean()
            loss = policy + 0.5 * critic - 0.005 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
    if it % 6 == 0:
        print(f"iteration {it}  reward {data['rew'].mean().item():.3f}  critic loss {critic.item():.4f}")
"""
