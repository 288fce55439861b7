NAME = "Fits a small message passing network to a synthetic energy per molecule."
FAULT = "The readout loops over the molecules in Python and masks all atoms of the batch for each one, so many small operations forwards and backwards do the work of one segment sum."
CURE = "Sum the atoms per molecule with one index_add and divide by the counts."
KIND = "time"
FAULT_LINES = ["for m in range(n_mol):", "pooled.append(h[mol == m].mean(0))", "g = torch.stack(pooled)"]
FAULT_CALLS = ["index", "index_put_", "eq", "nonzero", "mean", "readout", "__getitem__", "stack"]
FAULTY = r'''
import torch
from torch import nn, Tensor

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(5)
torch.manual_seed(5)

N_ELEMENTS = 5
ELECTRONEG = torch.tensor([2.2, 2.55, 3.04, 3.44, 3.98])


def make_molecule():
    """Random tree of 12..28 atoms with a few ring closures."""
    n = int(torch.randint(12, 29, (1,), generator=gen))
    z = torch.randint(0, N_ELEMENTS, (n,), generator=gen)
    parent = (torch.rand(n - 1, generator=gen) * torch.arange(1, n)).long()
    bonds = torch.stack([parent, torch.arange(1, n)])
    rings = torch.randint(0, n, (2, 2), generator=gen)
    bonds = torch.cat([bonds, rings[:, rings[0] != rings[1]]], 1)
    chi = ELECTRONEG[z]
    energy = -(chi[bonds[0]] - chi[bonds[1]]).abs().sum() / n - 0.3 * chi.mean()
    return z, torch.cat([bonds, bonds.flip(0)], 1), energy


mols = [make_molecule() for _ in range(1536)]
e_all = torch.stack([m[2] for m in mols])
e_mean, e_std = e_all.mean(), e_all.std()


def collate(batch):
    sizes = torch.tensor([len(m[0]) for m in batch])
    offs = torch.cumsum(sizes, 0) - sizes
    z = torch.cat([m[0] for m in batch])
    edges = torch.cat([m[1] + o for m, o in zip(batch, offs)], 1)
    mol = torch.repeat_interleave(torch.arange(len(batch)), sizes)
    y = (torch.stack([m[2] for m in batch]) - e_mean) / e_std
    return z, edges, mol, len(batch), y


batches = [collate(mols[i:i + 192]) for i in range(0, len(mols), 192)]
train, test = batches[:6], batches[6:]


class MPNN(nn.Module):
    def __init__(self, dim=64, rounds=2):
        super().__init__()
        self.embed = nn.Embedding(N_ELEMENTS, dim)
        self.msg = nn.ModuleList([nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU()) for _ in range(rounds)])
        self.upd = nn.ModuleList([nn.Linear(dim, dim) for _ in range(rounds)])
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1))

    def readout(self, h: Tensor, mol: Tensor, n_mol: int) -> Tensor:
        pooled = []
        for m in range(n_mol):
            pooled.append(h[mol == m].mean(0))
        g = torch.stack(pooled)
        return self.head(g).squeeze(-1)

    def forward(self, z, edges, mol, n_mol):
        h = self.embed(z)
        src, dst = edges
        for msg, upd in zip(self.msg, self.upd):
            m = msg(torch.cat([h[src], h[dst]], 1))
            h = h + upd(torch.zeros_like(h).index_add(0, dst, m))
        return self.readout(h, mol, n_mol)


model = MPNN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(28):
    losses = []
    for k in torch.randperm(len(train)).tolist():
        z, edges, mol, n_mol, y = train[k]
        loss = nn.functional.smooth_l1_loss(model(z, edges, mol, n_mol), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 7 == 6:
        with torch.no_grad():
            mae = sum((model(*b[:4]) - b[4]).abs().mean().item() for b in test) / len(test)
        print(f"epoch {epoch + 1}: train {sum(losses) / len(losses):.3f}  test MAE {mae * e_std:.3f} eV")
'''
CURED = FAULTY.replace(r'''        pooled = []
        for m in range(n_mol):
            pooled.append(h[mol == m].mean(0))
        g = torch.stack(pooled)
''', r'''        total = torch.zeros(n_mol, h.shape[1]).index_add(0, mol, h)
        g = total / torch.bincount(mol, minlength=n_mol).unsqueeze(1)
''')
