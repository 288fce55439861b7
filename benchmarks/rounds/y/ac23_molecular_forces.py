NAME = "Fits a continuous-filter message-passing potential to energies and forces of small random clusters."
FAULT = None
CURE = None
KIND = None
LOOKS = "autograd.grad with create_graph=True in every training step, positions that require gradients and enable_grad in the evaluation look like wasted differentiation; but the forces are part of the loss (so the second derivative is needed) and of the evaluation, where create_graph is off."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)

N_ATOMS, N_TYPES = 10, 3
I, J = torch.triu_indices(N_ATOMS, N_ATOMS, 1)
EPS = torch.tensor([[1.0, 0.8, 0.6], [0.8, 0.7, 0.5], [0.6, 0.5, 0.4]])
R0 = torch.tensor([[1.5, 1.35, 1.2], [1.35, 1.2, 1.1], [1.2, 1.1, 1.0]])


def pair_dist(pos):
    return (pos[:, I] - pos[:, J]).pow(2).sum(-1).add(1e-6).sqrt()


def reference(types, pos):
    """Morse pairs: energy and forces"""
    pos = pos.detach().requires_grad_()
    d = pair_dist(pos)
    a, b = types[:, I], types[:, J]
    x = torch.exp(-1.6 * (d - R0[a, b]))
    e = (EPS[a, b] * (x * x - 2 * x)).sum(1)
    f = -torch.autograd.grad(e.sum(), pos)[0]
    return e.detach(), f


def make_clusters(n):
    types = torch.randint(0, N_TYPES, (n, N_ATOMS))
    grid = torch.stack(torch.meshgrid(*[torch.arange(3.0)] * 3, indexing="ij"), -1).view(-1, 3)
    order = torch.rand(n, 27).argsort(1)[:, :N_ATOMS]
    pos = 1.35 * grid[order] + 0.15 * torch.randn(n, N_ATOMS, 3)
    e, f = reference(types, pos)
    return types, pos, e, f


class Interaction(nn.Module):
    def __init__(self, dim, n_rbf):
        super().__init__()
        self.filt = nn.Sequential(nn.Linear(n_rbf, dim), nn.Softplus(), nn.Linear(dim, dim))
        self.inp = nn.Linear(dim, dim, bias=False)
        self.out = nn.Sequential(nn.Linear(dim, dim), nn.Softplus(), nn.Linear(dim, dim))

    def forward(self, h, rbf):
        w = self.filt(rbf)
        x = self.inp(h)
        agg = torch.zeros_like(x).index_add(1, I, x[:, J] * w).index_add(1, J, x[:, I] * w)
        return h + self.out(agg)


class Potential(nn.Module):
    def __init__(self, dim=64, n_rbf=24, n_layers=2):
        super().__init__()
        self.embed = nn.Embedding(N_TYPES, dim)
        self.layers = nn.ModuleList(Interaction(dim, n_rbf) for _ in range(n_layers))
        self.read = nn.Sequential(nn.Linear(dim, 32), nn.Softplus(), nn.Linear(32, 1))
        self.register_buffer("centers", torch.linspace(0.5, 5.0, n_rbf))

    def forward(self, types, pos):
        rbf = torch.exp(-8.0 * (pair_dist(pos)[..., None] - self.centers) ** 2)
        h = self.embed(types)
        for layer in self.layers:
            h = layer(h, rbf)
        return self.read(h).sum((1, 2))


def energy_forces(model, types, pos, train):
    pos = pos.detach().requires_grad_()
    with torch.enable_grad():
        e = model(types, pos)
        f = -torch.autograd.grad(e.sum(), pos, create_graph=train)[0]
    return e, f


types, pos, e_ref, f_ref = make_clusters(900)
e_mean, e_std = e_ref[:800].mean(), e_ref[:800].std()
e_ref, f_ref = (e_ref - e_mean) / e_std, f_ref / e_std

model = Potential()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(14):
    sums = torch.zeros(2)
    for idx in torch.randperm(800).split(40):
        e, f = energy_forces(model, types[idx], pos[idx], train=True)
        le, lf = F.mse_loss(e, e_ref[idx]), F.mse_loss(f, f_ref[idx])
        opt.zero_grad()
        (le + 5.0 * lf).backward()
        opt.step()
        sums += torch.stack([le, lf]).detach() * len(idx)
    le, lf = (sums / 800).tolist()
    print(f"epoch {epoch}  energy mse {le:.4f}  force mse {lf:.4f}")

e, f = energy_forces(model, types[800:], pos[800:], train=False)
print(f"test: energy mae {(e.detach() - e_ref[800:]).abs().mean():.4f}, force mae {(f - f_ref[800:]).abs().mean():.4f}")
'''
