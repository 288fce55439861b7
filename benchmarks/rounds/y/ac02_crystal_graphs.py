NAME = "Trains a crystal graph convolution network on synthetic periodic crystals to predict a formation energy."
FAULT = "The neighbour list and distance expansion of each crystal are rebuilt at every visit in every epoch though the structures are fixed."
CURE = "Build the graph of each crystal once before training and pick the ready graphs in the loops."
KIND = "time"
FAULT_LINES = ["graphs = [build_graph(crystals[i]) for i in ids]"]
FAULT_CALLS = ["build_graph", "topk", "norm", "linalg_vector_norm", "exp", "sub", "gather"]
FAULTY = r'''
import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

SHIFTS = torch.tensor(list(itertools.product(range(-2, 3), repeat=3)), dtype=torch.float32)
K = 10                                    # neighbours per atom
CENTERS = torch.linspace(0.5, 7.0, 24)    # radial basis


def random_crystal():
    n = int(torch.randint(10, 25, (1,)))
    lattice = torch.eye(3) * (4.0 + 3.0 * torch.rand(3)) + 0.3 * torch.randn(3, 3)
    frac = torch.rand(n, 3)
    species = torch.randint(0, 20, (n,))
    return {"lattice": lattice, "frac": frac, "species": species}


def build_graph(crystal):
    """K nearest periodic neighbours of each atom with Gaussian distance features."""
    pos = crystal["frac"] @ crystal["lattice"]
    n = pos.shape[0]
    images = (pos[None] + (SHIFTS @ crystal["lattice"])[:, None]).reshape(-1, 3)
    dist = torch.linalg.vector_norm(pos[:, None] - images[None], dim=-1)
    dist = dist.masked_fill(dist < 1e-4, float("inf"))
    d, j = dist.topk(K, largest=False)
    rbf = torch.exp(-((d[..., None] - CENTERS) ** 2) / 0.1)
    return crystal["species"], j % n, rbf, d


def collate(graphs):
    species, nbr, rbf, owner, start = [], [], [], [], 0
    for g, (s, j, e, _) in enumerate(graphs):
        species.append(s)
        nbr.append(j + start)
        rbf.append(e)
        owner.append(torch.full((len(s),), g))
        start += len(s)
    return torch.cat(species), torch.cat(nbr), torch.cat(rbf), torch.cat(owner)


class CrystalConv(nn.Module):
    def __init__(self, dim, n_rbf):
        super().__init__()
        self.lin = nn.Linear(2 * dim + n_rbf, 2 * dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, nbr, rbf):
        z = torch.cat([x[:, None].expand(-1, nbr.shape[1], -1), x[nbr], rbf], dim=-1)
        gate, core = self.lin(z).chunk(2, dim=-1)
        return F.softplus(x + self.norm((torch.sigmoid(gate) * F.softplus(core)).sum(1)))


class CrystalNet(nn.Module):
    def __init__(self, dim=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(20, dim)
        self.convs = nn.ModuleList(CrystalConv(dim, len(CENTERS)) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1))

    def forward(self, species, nbr, rbf, owner, n_graphs):
        x = self.embed(species)
        for conv in self.convs:
            x = conv(x, nbr, rbf)
        total = x.new_zeros(n_graphs, x.shape[1]).index_add(0, owner, x)
        count = torch.bincount(owner, minlength=n_graphs).unsqueeze(1)
        return self.head(total / count).squeeze(1)


crystals = [random_crystal() for _ in range(480)]
charge = torch.randn(20)
energy = []
for c in crystals:
    s, j, _, d = build_graph(c)
    energy.append((charge[s][:, None] * charge[s][j] / (d + 0.5)).mean())
energy = torch.stack(energy)
energy = (energy - energy.mean()) / energy.std()

net = CrystalNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
train_ids, test_ids = torch.arange(0, 400), torch.arange(400, 480)

for epoch in range(12):
    net.train()
    total = 0.0
    for ids in train_ids[torch.randperm(400)].split(20):
        graphs = [build_graph(crystals[i]) for i in ids]
        pred = net(*collate(graphs), len(ids))
        loss = F.mse_loss(pred, energy[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(ids)
    if epoch % 3 == 2:
        net.eval()
        with torch.no_grad():
            graphs = [build_graph(crystals[i]) for i in test_ids]
            mae = (net(*collate(graphs), 80) - energy[test_ids]).abs().mean()
        print(f"epoch {epoch + 1}: train mse {total / 400:.4f}, test mae {mae:.4f}")
'''
CURED = FAULTY.replace("net = CrystalNet()\n", "prepared = [build_graph(c) for c in crystals]\nnet = CrystalNet()\n").replace("[build_graph(crystals[i]) for i in ids]", "[prepared[i] for i in ids]").replace("[build_graph(crystals[i]) for i in test_ids]", "[prepared[i] for i in test_ids]")
