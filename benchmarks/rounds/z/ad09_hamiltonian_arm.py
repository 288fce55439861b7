NAME = "Learns the Hamiltonian of a two-link robot arm from state derivatives and rolls the learnt dynamics out."
FAULT = None
CURE = None
KIND = None
LOOKS = "create_graph=True in every training step, enable_grad inside the evaluation rollout and a Python loop over time steps: the loss is built from dH/dx, so its weight gradients need the second-order graph; the rollout needs dH/dx of the model too, and each step starts from the state before it."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(4)

M1 = M2 = L1 = L2 = 1.0
G = 9.81


def mass_matrix(q):
    c = torch.cos(q[:, 1])
    m11 = (M1 + M2) * L1 ** 2 + M2 * L2 ** 2 + 2 * M2 * L1 * L2 * c
    m12 = M2 * L2 ** 2 + M2 * L1 * L2 * c
    m22 = torch.full_like(c, M2 * L2 ** 2)
    return torch.stack([torch.stack([m11, m12], -1), torch.stack([m12, m22], -1)], -2)


def true_energy(x):
    q, p = x[:, :2], x[:, 2:]
    velocity = torch.linalg.solve(mass_matrix(q), p.unsqueeze(-1)).squeeze(-1)
    potential = -(M1 + M2) * G * L1 * torch.cos(q[:, 0]) - M2 * G * L2 * torch.cos(q[:, 0] + q[:, 1])
    return 0.5 * (p * velocity).sum(-1) + potential


def symplectic(grad):
    return torch.cat([grad[:, 2:], -grad[:, :2]], dim=-1)


@torch.enable_grad()
def true_field(x):
    x = x.detach().requires_grad_()
    return symplectic(torch.autograd.grad(true_energy(x).sum(), x)[0])


n = 6144
states = torch.cat([(torch.rand(n, 2) - 0.5) * 2.4, torch.randn(n, 2) * 2.0], dim=-1)
rates = true_field(states)
scale = rates.std(0)
train_x, train_y = states[:-1024], rates[:-1024]
test_x, test_y = states[-1024:], rates[-1024:]


class HamiltonianNet(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(4, width), nn.Softplus(beta=2),
                                    nn.Linear(width, width), nn.Softplus(beta=2),
                                    nn.Linear(width, width), nn.Softplus(beta=2),
                                    nn.Linear(width, 1))

    def field(self, x, create_graph=False):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            energy = self.energy(x).sum()
            grad, = torch.autograd.grad(energy, x, create_graph=create_graph)
        return symplectic(grad)


def rollout(field, x, steps, dt):
    path = [x]
    for _ in range(steps):
        k1 = field(x)
        k2 = field(x + 0.5 * dt * k1)
        x = x + dt * k2
        path.append(x)
    return torch.stack(path)


model = HamiltonianNet()
epochs = 60
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
for epoch in range(epochs):
    total = 0.0
    for rows in torch.randperm(len(train_x)).split(512):
        predicted = model.field(train_x[rows], create_graph=True)
        loss = (((predicted - train_y[rows]) / scale) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    schedule.step()
    if epoch % 12 == 11:
        print(f"epoch {epoch + 1}: field error {total / len(train_x):.4f}")

with torch.no_grad():
    error = (((model.field(test_x) - test_y) / scale) ** 2).mean().item()
    start = test_x[:64] * 0.5
    learnt = rollout(model.field, start, steps=150, dt=0.01)
    truth = rollout(true_field, start, steps=150, dt=0.01)
    drift = (true_energy(learnt[-1]) - true_energy(start)).abs().mean().item()
print(f"test field error {error:.4f}")
print(f"rollout position error {(learnt[-1, :, :2] - truth[-1, :, :2]).abs().mean().item():.3f} rad, energy drift {drift:.3f} J")
'''
