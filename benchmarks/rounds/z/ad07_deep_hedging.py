NAME = "Learns a neural hedging strategy for a short call option on simulated stochastic-volatility paths (deep hedging)."
FAULT = "The loss of all path chunks is summed into one graph and backward is called once at the end, so the activations of all chunks are held at the same time."
CURE = "Call backward for the loss of each chunk (gradients add up) and keep only the number."
KIND = "memory"
FAULT_LINES = ["total = total + risk / n_chunks", "total.backward()", "risk = hedge_risk(policy, spot, var)",
               "for spot, var in simulate(n_chunks, chunk_size):"]
FAULT_CALLS = ["hedge_risk", "linear", "addmm", "silu", "forward", "cat", "stack", "backward", "layer_norm"]
FAULTY = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)

STEPS, MATURITY, STRIKE, S0 = 24, 0.25, 100.0, 100.0
COST = 5e-4
dt = MATURITY / STEPS


def simulate(n_chunks, chunk_size):
    """Heston paths (full truncation Euler), one chunk at a time."""
    kappa, theta, xi, rho = 2.0, 0.04, 0.5, -0.7
    for _ in range(n_chunks):
        s = torch.full((chunk_size,), S0)
        v = torch.full((chunk_size,), 0.04)
        spots, variances = [s], [v]
        for _ in range(STEPS):
            z1 = torch.randn(chunk_size)
            z2 = rho * z1 + math.sqrt(1 - rho ** 2) * torch.randn(chunk_size)
            vp = v.clamp(min=0)
            s = s * torch.exp(-0.5 * vp * dt + torch.sqrt(vp * dt) * z1)
            v = v + kappa * (theta - vp) * dt + xi * torch.sqrt(vp * dt) * z2
            spots.append(s)
            variances.append(v.clamp(min=0))
        yield torch.stack(spots), torch.stack(variances)


class HedgePolicy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 1), nn.Sigmoid())
        self.premium = nn.Parameter(torch.tensor(3.5))

    def forward(self, log_moneyness, vol, time_left, holding):
        features = torch.stack([10 * log_moneyness, 5 * vol, time_left, holding], dim=-1)
        return self.net(features).squeeze(-1)


def hedge_pnl(policy, spot, var):
    holding = torch.zeros(spot.shape[1])
    wealth = policy.premium.expand(spot.shape[1])
    for t in range(STEPS):
        left = torch.full_like(holding, (STEPS - t) / STEPS)
        target = policy(torch.log(spot[t] / STRIKE), var[t].sqrt(), left, holding)
        wealth = wealth - COST * spot[t] * (target - holding).abs() + target * (spot[t + 1] - spot[t])
        holding = target
    return wealth - torch.relu(spot[-1] - STRIKE)


def hedge_risk(policy, spot, var):
    pnl = hedge_pnl(policy, spot, var)
    return (pnl ** 2).mean() + 0.5 * (torch.relu(-pnl) ** 2).mean()


policy = HedgePolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=4e-3)
n_chunks, chunk_size = 8, 4500
history = []
for iteration in range(12):
    optimizer.zero_grad()
    total = 0.0
    for spot, var in simulate(n_chunks, chunk_size):
        risk = hedge_risk(policy, spot, var)
        total = total + risk / n_chunks
    total.backward()
    optimizer.step()
    history.append(total.item())
    if iteration % 3 == 2:
        print(f"iteration {iteration + 1}: risk {history[-1]:.3f}, premium {policy.premium.item():.3f}")

with torch.no_grad():
    pnl = torch.cat([hedge_pnl(policy, s, v) for s, v in simulate(2, chunk_size)])
    naked = torch.cat([policy.premium - torch.relu(s[-1] - STRIKE) for s, _ in simulate(2, chunk_size)])
print(f"hedged std {pnl.std().item():.3f}, naked std {naked.std().item():.3f}")
print(f"5% quantile hedged {pnl.quantile(0.05).item():.3f}")
'''
CURED = FAULTY.replace('''        total = total + risk / n_chunks
    total.backward()
''', '''        (risk / n_chunks).backward()
        total += risk.item() / n_chunks
''').replace("history.append(total.item())", "history.append(total)")
