NAME = 'Trains an actor and a critic by imagined rollouts through a frozen recurrent world model (Dreamer style).'
GOOD = r"""import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, Independent

device = 'cuda'
torch.manual_seed(5)
torch.set_float32_matmul_precision('high')

DETER, ACT, HID = 1024, 8, 1024
STARTS, HORIZON, UPDATES = 12288, 15, 120
GAMMA, LAMBDA, ENT = 0.99, 0.95, 1e-3


def mlp(i, o, depth=2):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(i, HID), nn.SiLU()]
        i = HID
    return nn.Sequential(*layers, nn.Linear(i, o))


class WorldModel(nn.Module):
    # deterministic part only: h' = GRU(phi(h, a), h)
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(DETER + ACT, HID), nn.SiLU())
        self.cell = nn.GRUCell(HID, DETER)
        self.reward = mlp(DETER, 1, depth=1)

    def step(self, h, a):
        h = self.cell(self.phi(torch.cat([h, a], -1)), h)
        return h, self.reward(h).squeeze(-1)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(DETER, 2 * ACT)

    def forward(self, h):
        mean, std = self.net(h).float().chunk(2, -1)
        return Independent(Normal(2 * torch.tanh(mean / 2), F.softplus(std) + 0.1, validate_args=False), 1,
                           validate_args=False)


with torch.device(device):
    world, actor, critic, slow_critic = WorldModel().bfloat16(), Actor(), mlp(DETER, 1), mlp(DETER, 1)
world.requires_grad_(False)              # gradients flow through it, not into it
slow_critic.load_state_dict(critic.state_dict())
slow_critic.requires_grad_(False)

opt_a = torch.optim.Adam(actor.parameters(), lr=1e-4, fused=True)
opt_c = torch.optim.Adam(critic.parameters(), lr=3e-4, fused=True)
replay = torch.tanh(torch.randn(60_000, DETER, device=device))   # posterior states
log = []

for update in range(UPDATES):
    h = replay[torch.randint(0, len(replay), (STARTS,), device=device)]
    states, rewards, entropies = [], [], []
    with torch.autocast(device, dtype=torch.bfloat16):
        for t in range(HORIZON):
            states.append(h)
            pi = actor(h)
            a = torch.tanh(pi.rsample())
            h, r = world.step(h, a)
            rewards.append(r.float() - 0.01 * a.square().sum(-1))
            entropies.append(pi.entropy())
        states = torch.stack(states + [h])
        values = slow_critic(states).squeeze(-1).float()

    # lambda returns, backwards in time
    ret, returns = values[-1], []
    for t in reversed(range(HORIZON)):
        ret = rewards[t] + GAMMA * ((1 - LAMBDA) * values[t + 1] + LAMBDA * ret)
        returns.append(ret)
    returns = torch.stack(returns[::-1])

    actor_loss = -(returns.mean() + ENT * torch.stack(entropies).mean())
    opt_a.zero_grad(set_to_none=True)
    actor_loss.backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 100.0)
    opt_a.step()

    with torch.autocast(device, dtype=torch.bfloat16):
        v = critic(states[:-1].detach()).squeeze(-1)
    critic_loss = F.mse_loss(v.float(), returns.detach())
    opt_c.zero_grad(set_to_none=True)
    critic_loss.backward()
    opt_c.step()
    with torch.no_grad():
        torch._foreach_lerp_(list(slow_critic.parameters()), list(critic.parameters()), 0.02)
    log.append(torch.stack([returns.mean(), critic_loss]).detach())

log = torch.stack(log).cpu()
print(f'imagined return {log[0, 0]:.4f} -> {log[-1, 0]:.4f}, critic loss {log[-1, 1]:.5f}')
"""
WHY_GOOD = 'Every imagined state depends on the action sampled from the state before it, so the loop over the horizon cannot be turned into one batched or fused recurrent call; each of its steps is already a set of large matrix products over 12288 states.'
SMALL = {"device = 'cuda'": "device = 'cpu'", 'DETER, ACT, HID = 1024, 8, 1024': 'DETER, ACT, HID = 64, 4, 64', 'STARTS, HORIZON, UPDATES = 12288, 15, 120': 'STARTS, HORIZON, UPDATES = 128, 6, 4', 'torch.randn(60_000, DETER': 'torch.randn(600, DETER'}
