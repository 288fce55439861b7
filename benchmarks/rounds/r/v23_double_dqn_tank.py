NAME = 'Trains a double DQN with a replay buffer and a target network on many water-tank control environments at once.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The online and the target network both have to score the next states in double DQN, the replay buffer is small and written in place, and the target network is copied only every 40 updates.'

GOOD = r'''
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(111)

N_ENVS, OBS, ACTIONS, CAPACITY = 128, 6, 5, 100_000
BATCH, UPDATES, SYNC, GAMMA = 512, 260, 40, 0.97


class Tanks:
    def __init__(self, n):
        self.n = n
        self.flows = torch.linspace(-0.2, 0.2, ACTIONS)
        self.level = torch.rand(n, 3)
        self.goal = 0.3 + 0.4 * torch.rand(n, 3)

    def observe(self):
        return torch.cat([self.level, self.goal], dim=1)

    def step(self, action):
        inflow = self.flows[action]
        leak = 0.05 * self.level
        move1 = 0.1 * (self.level[:, 0] - self.level[:, 1])
        move2 = 0.1 * (self.level[:, 1] - self.level[:, 2])
        change = torch.stack([inflow - move1, move1 - move2, move2], dim=1) - leak
        self.level = (self.level + change + 0.01 * torch.randn(self.n, 3)).clamp(0, 1)
        reward = -(self.level - self.goal).abs().sum(1)
        done = torch.rand(self.n) < 0.01
        after = self.observe()
        self.level[done] = torch.rand(int(done.sum()), 3)
        self.goal[done] = 0.3 + 0.4 * torch.rand(int(done.sum()), 3)
        return after, reward, done.float()


class Replay:
    def __init__(self, capacity):
        self.obs = torch.zeros(capacity, OBS)
        self.next_obs = torch.zeros(capacity, OBS)
        self.action = torch.zeros(capacity, dtype=torch.long)
        self.reward = torch.zeros(capacity)
        self.done = torch.zeros(capacity)
        self.capacity, self.pos, self.size = capacity, 0, 0

    def add(self, obs, action, reward, next_obs, done):
        where = (self.pos + torch.arange(len(obs))) % self.capacity
        for store, value in ((self.obs, obs), (self.action, action), (self.reward, reward),
                             (self.next_obs, next_obs), (self.done, done)):
            store[where] = value
        self.pos = (self.pos + len(obs)) % self.capacity
        self.size = min(self.size + len(obs), self.capacity)

    def sample(self, n):
        idx = torch.randint(0, self.size, (n,))
        return self.obs[idx], self.action[idx], self.reward[idx], self.next_obs[idx], self.done[idx]


def q_network(hidden=448):
    return nn.Sequential(nn.Linear(OBS, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, ACTIONS))


env, replay = Tanks(N_ENVS), Replay(CAPACITY)
q = q_network()
target = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=5e-4)
rewards, losses = [], []

obs = env.observe()
for update in range(1, UPDATES + 1):
    epsilon = max(0.05, 1.0 - update / 150)
    with torch.no_grad():
        greedy = q(obs).argmax(1)
    action = torch.where(torch.rand(N_ENVS) < epsilon, torch.randint(0, ACTIONS, (N_ENVS,)), greedy)
    after, reward, done = env.step(action)
    replay.add(obs, action, reward, after, done)
    obs = env.observe()
    rewards.append(reward.mean().item())

    s, a, r, s2, d = replay.sample(BATCH)
    with torch.no_grad():
        best = q(s2).argmax(1, keepdim=True)
        y = r + GAMMA * (1 - d) * target(s2).gather(1, best).squeeze(1)
    loss = F.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if update % SYNC == 0:
        target.load_state_dict(q.state_dict())
    if update % 65 == 0:
        print(f"update {update}: reward {sum(rewards[-65:]) / 65:.3f}, loss {sum(losses[-65:]) / 65:.4f}")
'''
