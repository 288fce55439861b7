NAME = 'Trains a PPO agent on a vectorised point-reaching task.'
FAULT = None
CURE = None
KIND = None
WHY = 'The policy and value are evaluated again on the same rollout in each of the eight epochs, which PPO needs as the parameters have changed; the backward loop over time for the advantages is a recurrence over few steps.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn
from torch.distributions import Normal

torch.set_num_threads(1)
torch.manual_seed(54)

ENVS, HORIZON, GAMMA, LAM, CLIP = 128, 40, 0.97, 0.95, 0.2


class Reacher:
    def __init__(self):
        self.pos = torch.rand(ENVS, 2) * 2 - 1
        self.vel = torch.zeros(ENVS, 2)
        self.goal = torch.rand(ENVS, 2) * 2 - 1

    def observe(self):
        return torch.cat([self.pos, self.vel, self.goal, self.goal - self.pos], dim=1)

    def step(self, action):
        self.vel = 0.9 * self.vel + 0.1 * action.clamp(-1, 1)
        self.pos = (self.pos + 0.2 * self.vel).clamp(-1.5, 1.5)
        distance = (self.goal - self.pos).norm(dim=1)
        done = distance < 0.1
        reward = -distance - 0.01 * action.pow(2).sum(1) + 2.0 * done
        self.goal = torch.where(done.unsqueeze(1), torch.rand(ENVS, 2) * 2 - 1, self.goal)
        return self.observe(), reward, done.float()


def mlp(cout):
    return nn.Sequential(nn.Linear(8, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, cout))


actor, critic = mlp(2), mlp(1)
log_std = nn.Parameter(torch.full((2,), -0.5))
params = [*actor.parameters(), *critic.parameters(), log_std]
opt = torch.optim.Adam(params, lr=7e-4)
env = Reacher()
obs = env.observe()

for iteration in range(1, 21):
    store = {k: [] for k in ("obs", "action", "logp", "value", "reward", "done")}
    with torch.no_grad():
        for _ in range(HORIZON):
            policy = Normal(actor(obs), log_std.exp())
            action = policy.sample()
            following, reward, done = env.step(action)
            row = (obs, action, policy.log_prob(action).sum(1), critic(obs).squeeze(1), reward, done)
            for key, value in zip(store, row):
                store[key].append(value)
            obs = following
        last = critic(obs).squeeze(1)
    data = {k: torch.stack(v) for k, v in store.items()}

    advantage = torch.zeros_like(data["reward"])
    carry = torch.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        nxt = last if t == HORIZON - 1 else data["value"][t + 1]
        alive = 1 - data["done"][t]
        delta = data["reward"][t] + GAMMA * nxt * alive - data["value"][t]
        carry = delta + GAMMA * LAM * alive * carry
        advantage[t] = carry
    returns = (advantage + data["value"]).flatten()
    advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
    o, a, old = data["obs"].flatten(0, 1), data["action"].flatten(0, 1), data["logp"].flatten()

    for _ in range(8):
        for idx in torch.randperm(len(o)).split(512):
            logp = Normal(actor(o[idx]), log_std.exp()).log_prob(a[idx]).sum(1)
            ratio = (logp - old[idx]).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            gain = torch.min(ratio * advantage[idx], clipped * advantage[idx]).mean()
            value_loss = (critic(o[idx]).squeeze(1) - returns[idx]).pow(2).mean()
            loss = -gain + 0.5 * value_loss - 0.002 * log_std.sum()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, 0.5)
            opt.step()
    if iteration % 5 == 0:
        print(f"iteration {iteration}: reward {data['reward'].mean().item():.3f}, goals {int(data['done'].sum())}, value loss {value_loss.item():.3f}")
"""
