NAME = 'd22_cell_neighbours'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import torch

torch.manual_seed(0)

n, d, k = 15_000, 256, 15
centers = torch.randn(40, d) * 2
cells = centers[torch.randint(0, 40, (n,))] + torch.randn(n, d)

sq = (cells * cells).sum(1)
chunk = 500
neigh = torch.empty(n, k, dtype=torch.long)
for s in range(0, n, chunk):
    block = cells[s:s + chunk]
    d2 = torch.addmm(sq[None, :], block, cells.T, alpha=-2)
    neigh[s:s + chunk] = d2.topk(k + 1, largest=False).indices[:, 1:]

src = torch.arange(n).repeat_interleave(k)
dst = neigh.reshape(-1)

label = torch.arange(n)
for sweep in range(12):
    new = label.clone()
    new.scatter_reduce_(0, src, label[dst], "amin")
    new.scatter_reduce_(0, dst, new[src], "amin")
    if torch.equal(new, label):
        break
    label = new

print("edges", len(src), "components", len(label.unique()))
"""
