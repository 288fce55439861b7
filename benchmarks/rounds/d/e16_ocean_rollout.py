NAME = 'e16_ocean_rollout'

FAULT = 'The long forecast with the trained emulator is run with gradients on, so the graph of all its steps is recorded and kept through the state.'

CURE = 'Run the forecast under torch.no_grad().'

KIND = 'memory'

FAULT_LINES = [
    'def forecast(model, state, steps):',
    '        state = model(state)',
    'mean_energy = forecast(emulator, ensemble, 700)',
]

FAULT_CALLS = [
    'Emulator.forward',
    'forecast',
    'nn.Linear',
    'F.gelu',
]

FAULTY = r'''
import torch
import torch.nn as nn

torch.manual_seed(71)
torch.set_num_threads(1)

# 1-D "ocean" (advection + diffusion + forcing), emulated by an MLP, then a long ensemble forecast
NX, DT = 64, 0.1
x_grid = torch.arange(NX) * (2 * torch.pi / NX)
forcing = 0.05 * torch.sin(2 * x_grid)


def solver_step(u):
    adv = -(u + 1.0) * (u.roll(-1, -1) - u.roll(1, -1)) / 2 * 0.4
    dif = 0.2 * (u.roll(-1, -1) - 2 * u + u.roll(1, -1))
    return u + DT * (adv + dif + forcing)


def initial(n):
    amp = torch.randn(n, 3, 1) * torch.tensor([0.5, 0.3, 0.2]).view(1, 3, 1)
    k = torch.arange(1, 4).view(1, 3, 1)
    ph = torch.rand(n, 3, 1) * 6.28
    return (amp * torch.sin(k * x_grid + ph)).sum(1)


class Emulator(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.enc = nn.Linear(NX, width)
        self.mid = nn.Linear(width, width)
        self.dec = nn.Linear(width, NX)
        nn.init.zeros_(self.dec.weight)

    def forward(self, u):
        h = torch.tanh(self.enc(u))
        h = h + torch.tanh(self.mid(h))
        return u + DT * self.dec(h)


# training pairs from short solver runs
with torch.no_grad():
    states, u = [], initial(64)
    for _ in range(60):
        states.append(u)
        u = solver_step(u)
    states = torch.cat(states)
    targets = solver_step(states)

emulator = Emulator()
opt = torch.optim.Adam(emulator.parameters(), lr=1e-3)
for epoch in range(40):
    total = 0.0
    for idx in torch.randperm(len(states)).split(128):
        loss = ((emulator(states[idx]) - targets[idx]) / DT).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
print("training loss", round(total / len(states), 5))


def forecast(model, state, steps):
    """Ensemble-mean energy per step."""
    energy = []
    for _ in range(steps):
        state = model(state)
        state = state.clamp(-4, 4)
        energy.append(state.pow(2).mean())
    return torch.stack(energy)


ensemble = initial(400)
mean_energy = forecast(emulator, ensemble, 700)
climate = mean_energy[350:]
print(f"energy at step 100 {mean_energy[100].item():.4f}")
print(f"climate {climate.mean().item():.4f} +- {climate.std().item():.5f}")
'''

CURED = r'''
import torch
import torch.nn as nn

torch.manual_seed(71)
torch.set_num_threads(1)

# 1-D "ocean" (advection + diffusion + forcing), emulated by an MLP, then a long ensemble forecast
NX, DT = 64, 0.1
x_grid = torch.arange(NX) * (2 * torch.pi / NX)
forcing = 0.05 * torch.sin(2 * x_grid)


def solver_step(u):
    adv = -(u + 1.0) * (u.roll(-1, -1) - u.roll(1, -1)) / 2 * 0.4
    dif = 0.2 * (u.roll(-1, -1) - 2 * u + u.roll(1, -1))
    return u + DT * (adv + dif + forcing)


def initial(n):
    amp = torch.randn(n, 3, 1) * torch.tensor([0.5, 0.3, 0.2]).view(1, 3, 1)
    k = torch.arange(1, 4).view(1, 3, 1)
    ph = torch.rand(n, 3, 1) * 6.28
    return (amp * torch.sin(k * x_grid + ph)).sum(1)


class Emulator(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.enc = nn.Linear(NX, width)
        self.mid = nn.Linear(width, width)
        self.dec = nn.Linear(width, NX)
        nn.init.zeros_(self.dec.weight)

    def forward(self, u):
        h = torch.tanh(self.enc(u))
        h = h + torch.tanh(self.mid(h))
        return u + DT * self.dec(h)


# training pairs from short solver runs
with torch.no_grad():
    states, u = [], initial(64)
    for _ in range(60):
        states.append(u)
        u = solver_step(u)
    states = torch.cat(states)
    targets = solver_step(states)

emulator = Emulator()
opt = torch.optim.Adam(emulator.parameters(), lr=1e-3)
for epoch in range(40):
    total = 0.0
    for idx in torch.randperm(len(states)).split(128):
        loss = ((emulator(states[idx]) - targets[idx]) / DT).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
print("training loss", round(total / len(states), 5))


@torch.no_grad()
def forecast(model, state, steps):
    """Ensemble-mean energy per step."""
    energy = []
    for _ in range(steps):
        state = model(state)
        state = state.clamp(-4, 4)
        energy.append(state.pow(2).mean())
    return torch.stack(energy)


ensemble = initial(400)
mean_energy = forecast(emulator, ensemble, 700)
climate = mean_energy[350:]
print(f"energy at step 100 {mean_energy[100].item():.4f}")
print(f"climate {climate.mean().item():.4f} +- {climate.std().item():.5f}")
'''
