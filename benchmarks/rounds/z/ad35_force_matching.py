NAME = "Fits a message-passing potential to energies and forces of small clusters, as a stand-in for quantum-chemical reference data."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "autograd.grad with create_graph=True in every training step and a second backward pass through it, and gradients switched on in the test function: the forces are part of the loss, so the double backward is needed, and the test needs first derivatives only (create_graph is off there)."
GOOD = r'''
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)

ATOMS = 8
I, J = torch.nonzero(~torch.eye(ATOMS, dtype=torch.bool), as_tuple=True)


def reference(pos, z):
    """Energy of a Morse cluster with species-dependent depth; plays the quantum chemist."""
    d = (pos[:, I] - pos[:, J]).norm(dim=-1)
    depth = 0.4 + 0.3 * (z[:, I] + z[:, J]).float()
    r0 = 1.1 + 0.15 * (z[:, I] == z[:, J]).float()
    return 0.5 * (depth * ((1 - torch.exp(-1.5 * (d - r0))).pow(2) - 1)).sum(dim=1)


def make_clusters(n):
    cube = torch.cartesian_prod(*[torch.tensor([0.0, 1.25])] * 3)
    pos = cube + 0.14 * torch.randn(n, ATOMS, 3)
    z = torch.randint(0, 2, (n, ATOMS))
    pos.requires_grad_(True)
    e = reference(pos, z)
    f = -torch.autograd.grad(e.sum(), pos)[0]
    return pos.detach(), z, e.detach(), f


class Potential(nn.Module):
    def __init__(self, width=96, n_rbf=24, layers=2):
        super().__init__()
        self.register_buffer("centres", torch.linspace(0.5, 3.5, n_rbf))
        self.species = nn.Embedding(2, width)
        self.send = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.recv = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.dist = nn.ModuleList(nn.Linear(n_rbf, width, bias=False) for _ in range(layers))
        self.message = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.update = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.readout = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        self.act = nn.SiLU()

    def forward(self, pos, z):
        h = self.species(z)
        d = (pos[:, I] - pos[:, J]).norm(dim=-1, keepdim=True)
        rbf = torch.exp(-6.0 * (d - self.centres).pow(2))
        for s, r, w, m, u in zip(self.send, self.recv, self.dist, self.message, self.update):
            pre = s(h)[:, J] + r(h)[:, I] + w(rbf)
            msg = self.act(m(self.act(pre)))
            h = h + u(msg.view(len(h), ATOMS, ATOMS - 1, -1).sum(dim=2))
        return self.readout(h).sum(dim=(1, 2))


pos, z, e_ref, f_ref = make_clusters(1200)
shift, scale = e_ref.mean(), f_ref.std()
train, test = slice(0, 1000), slice(1000, 1200)

net = Potential()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)


def energy_and_forces(p, species, training):
    p = p.detach().requires_grad_(True)
    e = net(p, species) * scale + shift
    (g,) = torch.autograd.grad(e.sum(), p, create_graph=training)
    return e, -g


def test_errors():
    e, f = energy_and_forces(pos[test], z[test], training=False)
    return (e.detach() - e_ref[test]).abs().mean().item(), (f - f_ref[test]).abs().mean().item()


for epoch in range(10):
    total = 0.0
    for idx in torch.randperm(1000).split(40):
        e, f = energy_and_forces(pos[idx], z[idx], training=True)
        loss = (e - e_ref[idx]).pow(2).mean() / ATOMS + 10 * (f - f_ref[idx]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    sched.step()
    if epoch % 2 == 1:
        mae_e, mae_f = test_errors()
        print(f"epoch {epoch}: loss {total / 25:.3f}, test MAE energy {mae_e:.3f}, force {mae_f:.3f}")
print(f"typical force component: {f_ref.abs().mean().item():.3f}")
'''
