NAME = "Fits a Hamiltonian network to a double-well oscillator and rolls out many trajectories to see whether energy is kept."
FAULT = "The rollout uses the training-time vector field with create_graph=True and never detaches the state, so the graph of every step of every trajectory is held until the end."
CURE = "Detach the state after each rollout step."
KIND = "memory"
FAULT_LINES = [
    "        z = rk4(model.field, z, dt)",
    "        path.append(z)",
    "        dH = torch.autograd.grad(self(z).sum(), z, create_graph=True)[0]",
    "pred = rollout(model, starts, 60, 0.05)",
]
FAULT_CALLS = ["grad", "rk4", "field", "rollout", "linear", "addmm", "tanh", "mm", "mul", "forward", "tanh_backward", "TanhBackward0", "AddmmBackward0"]
FAULTY = r'''
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)


def true_energy(z):
    q, p = z[..., 0], z[..., 1]
    return 0.5 * p ** 2 - 0.5 * q ** 2 + 0.25 * q ** 4


def true_field(z):
    q, p = z[..., 0], z[..., 1]
    return torch.stack([p, q - q ** 3], dim=-1)


def rk4(f, z, dt):
    k1 = f(z)
    k2 = f(z + 0.5 * dt * k1)
    k3 = f(z + 0.5 * dt * k2)
    k4 = f(z + dt * k3)
    return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


class HamiltonianNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1))

    def forward(self, z):
        return self.net(z).squeeze(-1)

    def field(self, z):
        if not z.requires_grad:
            z = z.detach().requires_grad_(True)
        dH = torch.autograd.grad(self(z).sum(), z, create_graph=True)[0]
        return torch.stack([dH[..., 1], -dH[..., 0]], dim=-1)


def sample_states(n):
    return torch.empty(n, 2).uniform_(-1.8, 1.8)


def train(model, steps, batch=1024):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for step in range(1, steps + 1):
        z = sample_states(batch)
        target = true_field(z) + 0.01 * torch.randn(batch, 2)
        loss = (model.field(z) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 300 == 0:
            print(f"step {step}: field mse {loss.item():.5f}")


def rollout(model, z, steps, dt):
    path = [z]
    for _ in range(steps):
        z = rk4(model.field, z, dt)
        path.append(z)
    return torch.stack(path)


model = HamiltonianNet()
train(model, 1800)

starts = sample_states(1200)
pred = rollout(model, starts, 60, 0.05)

truth = [starts]
for _ in range(60):
    truth.append(rk4(true_field, truth[-1], 0.05))
truth = torch.stack(truth)

err = (pred - truth).norm(dim=-1)
drift = (true_energy(pred) - true_energy(starts)).abs()
for k in (10, 30, 60):
    print(f"t={k * 0.05:.2f}  median error {err[k].median().item():.4f}  "
          f"mean energy drift {drift[k].mean().item():.4f}")
crossed = (pred[..., 0].sign() != starts[:, 0].sign()).any(0).float().mean().item()
print(f"share of trajectories that cross the barrier: {crossed:.3f}")
print(f"rms error over all times: {math.sqrt(err.pow(2).mean().item()):.4f}")
'''
CURED = FAULTY.replace("        z = rk4(model.field, z, dt)\n", "        z = rk4(model.field, z, dt).detach()\n")
