NAME = "Optimises a neural ordering policy for a warehouse item by differentiating through a simulated quarter."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = ("A Python loop over the days keeps all stock tensors and daily costs in the graph (list of undetached costs), and fresh demand is drawn in "
         "every iteration; the stock of a day depends on the order before it, the gradient must pass through all days, the loss needs every daily cost, "
         "and fresh scenarios keep the policy from overfitting (drawing them costs about 1%).")
GOOD = r'''import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(31)

DAYS, LEAD, SCEN = 60, 3, 512
HOLD, SHORT, UNIT = 0.10, 2.0, 0.05


def draw_demand(n):
    """Weekly pattern times a slow market factor, noise on top; never negative."""
    week = torch.tensor([1.1, 1.0, 0.9, 1.0, 1.3, 0.5, 0.2]).repeat(DAYS // 7 + 1)[:DAYS]
    start = torch.randint(0, 7, (n, 1))
    season = week[(torch.arange(DAYS)[None] + start) % 7]
    market = torch.exp(0.05 * torch.randn(n, DAYS).cumsum(1))
    d = 10 * season * market + 2.0 * torch.randn(n, DAYS)
    return d.clamp_min_(0), start


class OrderPolicy(nn.Module):
    """Order-up-to level that depends on weekday, recent demand and pipeline."""

    def __init__(self, hidden=224):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1 + LEAD + 2 + 2, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, feats):
        return nn.functional.softplus(self.net(feats).squeeze(1)) * 10


def simulate(policy, demand, start):
    n = len(demand)
    stock = torch.full((n,), 30.0)
    pipe = [torch.full((n,), 10.0) for _ in range(LEAD)]
    angle = 2 * torch.pi * (start + torch.arange(DAYS)[None]) / 7
    clock = torch.stack([angle.sin(), angle.cos()], 2)
    fast = slow = torch.full((n,), 10.0)
    costs, lost = [], []
    for t in range(DAYS):
        stock = stock + pipe[0]
        feats = torch.stack([stock, *pipe, fast, slow], 1) / 20
        order = policy(torch.cat([feats, clock[:, t]], 1))
        pipe = pipe[1:] + [order]
        d = demand[:, t]
        left = stock - d
        miss = torch.relu(-left)
        stock = torch.relu(left)
        costs.append(HOLD * stock + SHORT * miss + UNIT * order)
        lost.append(miss)
        fast = 0.7 * fast + 0.3 * d
        slow = 0.95 * slow + 0.05 * d
    return torch.stack(costs, 1), torch.stack(lost, 1)


policy = OrderPolicy()
opt = torch.optim.Adam(policy.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 30)
smooth = None
for it in range(1, 31):
    demand, start = draw_demand(SCEN)
    costs, _ = simulate(policy, demand, start)
    loss = costs.mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    opt.step()
    sched.step()
    smooth = loss.item() if smooth is None else 0.8 * smooth + 0.2 * loss.item()
    if it % 10 == 0:
        print(f"iteration {it:3d}  daily cost {smooth:.3f}")


def base_stock(level):
    def act(feats):
        return torch.relu(level - 20 * feats[:, :LEAD + 1].sum(1))
    return act


with torch.no_grad():
    demand, start = draw_demand(1024)
    cost, lost = simulate(policy, demand, start)
    print(f"learned policy: cost {cost.mean():.3f}, fill rate {1 - lost.sum() / demand.sum():.3f}")
    for level in (45, 55, 65):
        cost, lost = simulate(base_stock(level), demand, start)
        print(f"base stock {level}: cost {cost.mean():.3f}, fill rate {1 - lost.sum() / demand.sum():.3f}")
'''
