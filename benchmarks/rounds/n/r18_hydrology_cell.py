NAME = 'Fits a differentiable conceptual rainfall-runoff model (snow, soil, two reservoirs) to simulated basins.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'The Python loop over days looks vectorisable, but the stores evolve through thresholds and non-linear outflows, so each day needs the previous one; the basins are already batched.'
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
import matplotlib.pyplot as plt
torch.set_num_threads(1)
torch.manual_seed(10)

BASINS, DAYS, WARMUP = 64, 365, 60

# forcing
d = torch.arange(DAYS).float()
temp = 6 - 11 * torch.cos(2 * np.pi * d / 365)[:, None] + 3 * torch.randn(DAYS, BASINS)
rain = torch.where(torch.rand(DAYS, BASINS) < 0.35, torch.distributions.Gamma(0.8, 0.12).sample((DAYS, BASINS)), torch.tensor(0.))
pet = (0.15 * temp.clamp_min(0)) * (1 + 0.2 * torch.rand(DAYS, BASINS))
attributes = torch.randn(BASINS, 6)

LOW = torch.tensor([-1., 1., 80., 1., .05, .01, .1])
HIGH = torch.tensor([2., 5., 400., 4., .4, .08, .6])
#             t_melt ddf  cap  beta  k_fast k_slow split

def bucket(theta, rain, temp, pet):
    t0, ddf, cap, beta, kf, ks, split = theta.T
    snow = torch.zeros(BASINS); soil = 0.5 * cap
    fast = torch.zeros(BASINS); slow = torch.full((BASINS,), 10.)
    q = []
    for day in range(DAYS):
        p, t = rain[day], temp[day]
        frac = torch.sigmoid(2 * (t - t0))
        snow = snow + (1 - frac) * p
        melt = torch.minimum(snow, ddf * (t - t0).clamp_min(0))
        snow = snow - melt
        inflow = frac * p + melt
        wet = (soil / cap).clamp(1e-4, 1.0)
        recharge = inflow * wet ** beta
        soil = soil + inflow - recharge
        soil = soil - torch.minimum(soil, pet[day] * wet)
        over = (soil - cap).clamp_min(0)
        soil = soil - over
        fast = fast + split * recharge + over
        slow = slow + (1 - split) * recharge
        qf, qs = kf * fast ** 1.1 / 1.5, ks * slow
        fast, slow = (fast - qf).clamp_min(1e-3), slow - qs
        q.append(qf + qs)
    return torch.stack(q)

# hidden truth
mix = torch.randn(6, 7) * 0.6
truth = LOW + (HIGH - LOW) * torch.sigmoid(attributes @ mix)
with torch.no_grad():
    observed = bucket(truth, rain, temp, pet)
    observed = observed * (1 + 0.05 * torch.randn_like(observed))
print('mean runoff', observed.mean().item(), 'max', observed.max().item())

class Regionalise(nn.Module):
    # maps basin attributes to model parameters
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 7))
        nn.init.zeros_(self.net[2].weight)
        nn.init.zeros_(self.net[2].bias)
    def forward(self, a):
        return LOW + (HIGH - LOW) * torch.sigmoid(self.net(a))

def nse(sim, obs):
    sim, obs = sim[WARMUP:], obs[WARMUP:]
    return 1 - (sim - obs).pow(2).sum(0) / (obs - obs.mean(0)).pow(2).sum(0)

model = Regionalise()
opt = torch.optim.Adam(model.parameters(), lr=0.03)
curve = []
for epoch in range(18):
    sim = bucket(model(attributes), rain, temp, pet)
    score = nse(sim, observed)
    loss = (1 - score).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    curve.append(score.median().item())
    if epoch % 6 == 5:
        print(f'epoch {epoch + 1:2d}: median NSE {curve[-1]:.4f}, worst basin {score.min().item():.3f}')

plt.plot(observed[:, 0], label='observed')
plt.plot(sim[:, 0].detach(), label='simulated')
plt.legend(); plt.xlabel('day'); plt.ylabel('runoff [mm/d]'); plt.show()
"""
