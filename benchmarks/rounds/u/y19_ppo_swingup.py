NAME = 'Trains PPO on 512 pendulums stepped together, with a rollout buffer, GAE and several epochs of minibatches.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The Python loops over time (rollout and advantages), the clones of the observation and the repeated passes over the same rollout look wasteful, but the loops are sequential and each step handles 512 pendulums at once, the environment overwrites its observation in place, and the policy changes between the passes.'

GOOD = r'''
import math

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(12)

ENVS, HORIZON, ROUNDS, EPOCHS, MINI = 512, 64, 12, 4, 2048
GAMMA, LAM, CLIP, ENTROPY = 0.97, 0.95, 0.2, 1e-3


class Pendulums:
    """Torque-limited swing-up; the observation tensor is reused between the steps."""

    def __init__(self, n):
        self.angle = (torch.rand(n) * 2 - 1) * math.pi
        self.speed = torch.rand(n) * 2 - 1
        self.age = torch.randint(0, 150, (n,))
        self.obs = torch.empty(n, 3)
        self.look()

    def look(self):
        torch.cos(self.angle, out=self.obs[:, 0])
        torch.sin(self.angle, out=self.obs[:, 1])
        torch.mul(self.speed, 0.25, out=self.obs[:, 2])

    def step(self, torque):
        u = torque.clamp(-2, 2)
        off = torch.remainder(self.angle + math.pi, 2 * math.pi) - math.pi
        reward = -(off ** 2 + 0.1 * self.speed ** 2 + 0.001 * u ** 2) / 32
        self.speed.add_(0.05 * (15 * torch.sin(self.angle) + 3 * u)).clamp_(-8, 8)
        self.angle.add_(self.speed, alpha=0.05)
        self.age += 1
        done = self.age >= 150
        if done.any():
            k = int(done.sum())
            self.angle[done] = (torch.rand(k) * 2 - 1) * math.pi
            self.speed[done] = torch.rand(k) * 2 - 1
            self.age[done] = 0
        self.look()
        return reward, done.float()


def mlp(out):
    return nn.Sequential(nn.Linear(3, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, out))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = mlp(1), mlp(1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def log_prob(self, obs, act):
        z = (act - 2 * self.actor(obs).squeeze(-1)) * torch.exp(-self.log_std)
        return -0.5 * z * z - self.log_std - 0.9189385

    @torch.no_grad()
    def act(self, obs):
        noise = torch.randn(obs.shape[0])
        action = 2 * self.actor(obs).squeeze(-1) + noise * self.log_std.exp()
        return action, -0.5 * noise * noise - self.log_std - 0.9189385


@torch.no_grad()
def rollout(env, agent):
    obs, acts, logps, rewards, dones = [], [], [], [], []
    for _ in range(HORIZON):
        obs.append(env.obs.clone())
        action, logp = agent.act(obs[-1])
        reward, done = env.step(action)
        acts.append(action)
        logps.append(logp)
        rewards.append(reward)
        dones.append(done)
    obs = torch.stack(obs)
    values = agent.critic(torch.cat([obs, env.obs[None]])).squeeze(-1)
    adv, running = torch.empty(HORIZON, ENVS), torch.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        alive = 1 - dones[t]
        delta = rewards[t] + GAMMA * values[t + 1] * alive - values[t]
        running = delta + GAMMA * LAM * alive * running
        adv[t] = running
    returns = adv + values[:-1]
    flat = [v.flatten() for v in (torch.stack(acts), torch.stack(logps), adv, returns)]
    return obs.flatten(0, 1), *flat, torch.stack(rewards).mean().item()


env, agent = Pendulums(ENVS), Agent()
opt = torch.optim.Adam(agent.parameters(), lr=1e-3)
for k in range(ROUNDS):
    obs, act, old, adv, ret, score = rollout(env, agent)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(EPOCHS):
        for pick in torch.randperm(len(obs)).split(MINI):
            o = obs[pick]
            ratio = (agent.log_prob(o, act[pick]) - old[pick]).exp()
            a = adv[pick]
            gain = torch.minimum(ratio * a, ratio.clamp(1 - CLIP, 1 + CLIP) * a).mean()
            fit = (agent.critic(o).squeeze(-1) - ret[pick]).square().mean()
            loss = 0.5 * fit - gain - ENTROPY * agent.log_std.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"round {k}: reward {score:.3f}  critic {fit.item():.3f}  std {agent.log_std.exp().item():.3f}")
'''
