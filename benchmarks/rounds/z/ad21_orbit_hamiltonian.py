NAME = "Learns the Hamiltonian of Kepler orbits with a network and rolls out orbits with the learned dynamics."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "create_graph=True in training, gradients enabled during the rollout and a Python loop over time steps look wasteful, but the loss is on the gradient of H (so a graph of the gradient is needed), the rollout needs dH/dz itself (graph is freed each step), and time steps depend on one another."
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
np.random.seed(21)
torch.manual_seed(21)


# ---- reference orbits around a unit mass (softened), z = (x, y, px, py) ----
def true_field(z):
    q, p = z[:, :2], z[:, 2:]
    r3 = (np.sum(q ** 2, axis=1, keepdims=True) + 0.05) ** 1.5
    return np.concatenate([p, -q / r3], axis=1)


def rk4(field, z, dt):
    k1 = field(z)
    k2 = field(z + 0.5 * dt * k1)
    k3 = field(z + 0.5 * dt * k2)
    k4 = field(z + dt * k3)
    return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def initial_states(n):
    r = np.random.uniform(0.8, 1.5, n)
    phi = np.random.uniform(0, 2 * np.pi, n)
    v = np.sqrt(1 / r) * np.random.uniform(0.85, 1.1, n)
    return np.stack([r * np.cos(phi), r * np.sin(phi), -v * np.sin(phi), v * np.cos(phi)], axis=1)


def reference(z, steps, dt):
    path = [z]
    for _ in range(steps):
        path.append(rk4(true_field, path[-1], dt))
    return np.stack(path)


class HamiltonianNet(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1, bias=False))

    def forward(self, z):
        return self.net(z).squeeze(-1)

    def field(self, z):
        with torch.enable_grad():
            z = z.detach().requires_grad_(True)
            energy = self(z).sum()
            dh, = torch.autograd.grad(energy, z, create_graph=self.training)
        return torch.cat([dh[:, 2:], -dh[:, :2]], dim=1)


DT = 0.05
orbits = reference(initial_states(150), 160, DT)
z_all = orbits.reshape(-1, 4)
f_all = true_field(z_all)
z_train = torch.tensor(z_all, dtype=torch.float32)
f_train = torch.tensor(f_all, dtype=torch.float32)

model = HamiltonianNet()
EPOCHS, BATCH = 18, 512
opt = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
steps = EPOCHS * (-(-len(z_train) // BATCH))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=steps)

for epoch in range(EPOCHS):
    total = 0.0
    for idx in torch.randperm(len(z_train)).split(BATCH):
        loss = (model.field(z_train[idx]) - f_train[idx]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item() * len(idx)
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1:2d}: field mse {total / len(z_train):.2e}")

# ---- long rollout with the learned Hamiltonian on new orbits ----
model.eval()
start = initial_states(200)
truth = torch.tensor(reference(start, 300, DT), dtype=torch.float32)
z = truth[0]
errors, energies = [], []
with torch.no_grad():
    h0 = model(z)
for step in range(1, 301):
    z = rk4(model.field, z, DT)
    errors.append((z - truth[step])[:, :2].norm(dim=1).mean().item())
    if step % 50 == 0:
        with torch.no_grad():
            energies.append((model(z) - h0).abs().mean().item())

print("position error after 1, 5, 15 time units: " + ", ".join(f"{errors[k]:.3f}" for k in (19, 99, 299)))
print("drift of the learned energy: " + ", ".join(f"{e:.1e}" for e in energies))
'''
