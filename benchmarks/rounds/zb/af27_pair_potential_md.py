NAME = "A neural pair potential is fitted to Lennard-Jones forces of small argon-like clusters and then drives a molecular dynamics run."
FAULT = "The function for forces always differentiates with create_graph=True, so each step of the dynamics and of the validation builds a graph for second derivatives (with slower differentiable backward formulas) that only training needs."
CURE = "Pass create_graph only while training."
KIND = "time"
FAULT_LINES = ["f = -torch.autograd.grad(e.sum(), pos, create_graph=True)[0]", "e, f = model.energy_forces(x)", "e, f = model.energy_forces(pos)"]
FAULT_CALLS = ["grad", "energy_forces", "run_backward", "silu", "silu_backward", "SiluBackward0", "sigmoid", "mul"]
FAULTY = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(5)

N_ATOMS = 38
I, J = torch.triu_indices(N_ATOMS, N_ATOMS, offset=1)


def lj_energy(pos):
    r2 = ((pos[:, I] - pos[:, J]) ** 2).sum(-1)
    s6 = (1.0 / r2) ** 3
    return (4.0 * (s6 ** 2 - s6)).sum(1)


def lattice_cluster(n, a=1.15):
    g = torch.arange(-3, 4).float()
    pts = torch.cartesian_prod(g, g, g) * a
    d = pts.norm(dim=1)
    return pts[d.argsort(stable=True)[:n]]


base = lattice_cluster(N_ATOMS)


def sample_clusters(n, sigma=0.06):
    return base + sigma * torch.randn(n, N_ATOMS, 3)


class PairNet(nn.Module):
    def __init__(self, n_rbf=10, hidden=32, depth=7, r_max=6.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.7, r_max, n_rbf))
        self.gamma = (n_rbf / r_max) ** 2
        layers, width = [], n_rbf
        for _ in range(depth):
            layers += [nn.Linear(width, hidden), nn.SiLU()]
            width = hidden
        self.net = nn.Sequential(*layers, nn.Linear(hidden, 1))
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, pos):
        r = (pos[:, I] - pos[:, J]).norm(dim=-1)
        feats = torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centers) ** 2)
        return self.net(feats).squeeze(-1).sum(1) + self.shift

    def energy_forces(self, pos):
        pos = pos.detach().requires_grad_(True)
        e = self(pos)
        f = -torch.autograd.grad(e.sum(), pos, create_graph=True)[0]
        return e, f


def reference(pos):
    pos = pos.clone().requires_grad_(True)
    e = lj_energy(pos)
    return e.detach(), -torch.autograd.grad(e.sum(), pos)[0]


model = PairNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
train_x = sample_clusters(96)
train_e, train_f = reference(train_x)
valid_x = sample_clusters(64)
valid_e, valid_f = reference(valid_x)
e_mean, f_std = train_e.mean(), train_f.std()
model.shift.data.fill_(float(e_mean))


def validate():
    err, n = 0.0, 0
    for x, f_ref in zip(valid_x.split(16), valid_f.split(16)):
        e, f = model.energy_forces(x)
        err += (f.detach() - f_ref).abs().sum().item()
        n += f_ref.numel()
    return err / n


for epoch in range(2):
    for b in torch.randperm(len(train_x)).split(8):
        e, f = model.energy_forces(train_x[b])
        loss = ((f - train_f[b]) / f_std).pow(2).mean() + 0.01 * ((e - train_e[b]) / N_ATOMS).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        print(f"epoch {epoch} loss {loss.item():.4f} force MAE {validate():.3f} (std {f_std.item():.3f})")

# velocity Verlet on 8 replicas at once
dt, mass, n_steps = 0.002, 1.0, 700
pos = sample_clusters(8, sigma=0.02)
vel = 0.1 * torch.randn_like(pos)
e, f = model.energy_forces(pos)
trace = []
for t in range(n_steps):
    vel = vel + 0.5 * dt * f.detach() / mass
    pos = pos + dt * vel
    e, f = model.energy_forces(pos)
    vel = vel + 0.5 * dt * f.detach() / mass
    kin = 0.5 * mass * (vel ** 2).sum((1, 2))
    trace.append((kin + e.detach()).mean().item())
drift = trace[-1] - trace[0]
temp = (2 * kin / (3 * N_ATOMS)).mean().item()
print(f"MD: {n_steps} steps, final temperature {temp:.3f}, energy drift {drift:.3f}")
rg = (pos - pos.mean(1, keepdim=True)).pow(2).sum(-1).mean(1).sqrt()
print("radius of gyration", [round(v, 2) for v in rg[:4].tolist()])
'''
CURED = (FAULTY.replace("def energy_forces(self, pos):", "def energy_forces(self, pos, train=False):")
         .replace("create_graph=True)[0]", "create_graph=train)[0]")
         .replace("model.energy_forces(train_x[b])", "model.energy_forces(train_x[b], train=True)"))
