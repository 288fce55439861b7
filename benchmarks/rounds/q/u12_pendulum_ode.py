NAME = 'Fits a neural ODE to noisy trajectories of damped pendulums with a fixed-step RK4 integrator.'
FAULT = 'Anomaly detection is left on, so every forward operation records a stack trace and every backward operation checks its result for NaN.'
CURE = 'Remove the line that turns anomaly detection on.'
KIND = 'time'
FAULT_LINES = ['torch.autograd.set_detect_anomaly(True)']
FAULT_CALLS = ['set_detect_anomaly', 'format_stack', 'extract_stack', 'isnan', 'backward']
FAULTY = r'''import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(6)
torch.autograd.set_detect_anomaly(True)

N_TRAJ, T_STEPS, DT = 96, 40, 0.1


def true_field(state):
    angle, speed = state.unbind(-1)
    return torch.stack([speed, -2.0 * torch.sin(angle) - 0.15 * speed], -1)


def rk4_step(field, y, dt):
    k1 = field(y)
    k2 = field(y + 0.5 * dt * k1)
    k3 = field(y + 0.5 * dt * k2)
    k4 = field(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(field, y0, steps, dt):
    states = [y0]
    for _ in range(steps):
        states.append(rk4_step(field, states[-1], dt))
    return torch.stack(states, 1)


class Field(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.l1 = nn.Linear(2, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, 2)

    def forward(self, y):
        h = torch.tanh(self.l1(y))
        h = torch.tanh(self.l2(h))
        return self.l3(h)


with torch.no_grad():
    start = torch.rand(N_TRAJ, 2) * torch.tensor([3.0, 2.0]) - torch.tensor([1.5, 1.0])
    clean = integrate(true_field, start, T_STEPS, DT)
    observed = clean + 0.03 * torch.randn_like(clean)
train, test = observed[:80], clean[80:]

field = Field()
opt = torch.optim.Adam(field.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.StepLR(opt, 40, gamma=0.5)

for it in range(120):
    rows = torch.randperm(len(train))[:40]
    batch = train[rows]
    predicted = integrate(field, batch[:, 0], T_STEPS, DT)
    loss = (predicted - batch).square().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(field.parameters(), 1.0)
    opt.step()
    schedule.step()
    if it % 30 == 29:
        print(f"iteration {it + 1:3d}  loss {loss.item():.4f}")

with torch.no_grad():
    rollout = integrate(field, test[:, 0], T_STEPS, DT)
    error = (rollout - test).norm(dim=-1).mean(0)
print("test error at steps 10, 20, 40:", "  ".join(f"{error[k].item():.3f}" for k in (10, 20, 40)))
'''
CURED = r'''import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(6)

N_TRAJ, T_STEPS, DT = 96, 40, 0.1


def true_field(state):
    angle, speed = state.unbind(-1)
    return torch.stack([speed, -2.0 * torch.sin(angle) - 0.15 * speed], -1)


def rk4_step(field, y, dt):
    k1 = field(y)
    k2 = field(y + 0.5 * dt * k1)
    k3 = field(y + 0.5 * dt * k2)
    k4 = field(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(field, y0, steps, dt):
    states = [y0]
    for _ in range(steps):
        states.append(rk4_step(field, states[-1], dt))
    return torch.stack(states, 1)


class Field(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.l1 = nn.Linear(2, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, 2)

    def forward(self, y):
        h = torch.tanh(self.l1(y))
        h = torch.tanh(self.l2(h))
        return self.l3(h)


with torch.no_grad():
    start = torch.rand(N_TRAJ, 2) * torch.tensor([3.0, 2.0]) - torch.tensor([1.5, 1.0])
    clean = integrate(true_field, start, T_STEPS, DT)
    observed = clean + 0.03 * torch.randn_like(clean)
train, test = observed[:80], clean[80:]

field = Field()
opt = torch.optim.Adam(field.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.StepLR(opt, 40, gamma=0.5)

for it in range(120):
    rows = torch.randperm(len(train))[:40]
    batch = train[rows]
    predicted = integrate(field, batch[:, 0], T_STEPS, DT)
    loss = (predicted - batch).square().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(field.parameters(), 1.0)
    opt.step()
    schedule.step()
    if it % 30 == 29:
        print(f"iteration {it + 1:3d}  loss {loss.item():.4f}")

with torch.no_grad():
    rollout = integrate(field, test[:, 0], T_STEPS, DT)
    error = (rollout - test).norm(dim=-1).mean(0)
print("test error at steps 10, 20, 40:", "  ".join(f"{error[k].item():.3f}" for k in (10, 20, 40)))
'''
