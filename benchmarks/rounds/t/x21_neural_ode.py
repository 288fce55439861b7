NAME = 'Fits a neural ODE to predator-prey trajectories with a hand-written Runge-Kutta integrator.'
FAULT = None
CURE = None
KIND = None
WHY = 'The Python loop over time steps with four network calls each cannot be batched, because each stage needs the result of the one before; the trajectories are already batched.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(55)

STEPS, DT, BATCH = 24, 0.1, 384


def lotka(state):
    prey, predator = state[:, :1], state[:, 1:]
    return torch.cat([1.1 * prey - 0.4 * prey * predator, 0.1 * prey * predator - 0.4 * predator], dim=1)


def rk4(field, state, dt):
    k1 = field(state)
    k2 = field(state + 0.5 * dt * k1)
    k3 = field(state + 0.5 * dt * k2)
    k4 = field(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(field, state, steps, dt):
    path = [state]
    for _ in range(steps):
        state = rk4(field, state, dt)
        path.append(state)
    return torch.stack(path)


class Field(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 2),
        )
        nn.init.normal_(self.net[-1].weight, std=0.01)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, state):
        return self.net(state)


with torch.no_grad():
    start = torch.rand(3000, 2) * torch.tensor([6.0, 3.0]) + torch.tensor([2.0, 1.0])
    truth = integrate(lotka, start, STEPS, DT)
    scale = truth.std(dim=(0, 1))
    observed = truth / scale + 0.02 * torch.randn_like(truth)

field = Field()
opt = torch.optim.Adam(field.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=60)

for step in range(1, 61):
    idx = torch.randint(0, observed.shape[1], (BATCH,))
    target = observed[:, idx]
    path = integrate(field, target[0], STEPS, DT)
    loss = (path - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(field.parameters(), 1.0)
    opt.step()
    schedule.step()
    if step % 15 == 0:
        print(f"step {step}: loss {loss.item():.4f}")

with torch.no_grad():
    fresh = torch.rand(200, 2) * torch.tensor([6.0, 3.0]) + torch.tensor([2.0, 1.0])
    guess = integrate(field, fresh / scale, 2 * STEPS, DT)
    exact = integrate(lotka, fresh, 2 * STEPS, DT) / scale
for k in (0, STEPS, 2 * STEPS):
    print(f"t={k * DT:.1f}: rmse {(guess[k] - exact[k]).pow(2).mean().sqrt().item():.3f}")
"""
