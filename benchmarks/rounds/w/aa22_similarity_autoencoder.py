NAME = "Learns node embeddings of a weighted co-occurrence graph with a graph autoencoder on the full adjacency matrix."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The adjacency is a dense matrix multiplied in every epoch, and all pairs are decoded: about 40 percent of the weights are non-zero, so a sparse layout is slower, the product changes with the weights in every epoch (the constant one, of the first layer, is taken once before the loop), and the loss is defined on all pairs."
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

n, k = 1400, 6

# co-occurrence counts of n terms that belong to k overlapping themes
theme = torch.distributions.Dirichlet(torch.full((k,), 0.25)).sample((n,))
rate = 2.2 * theme @ theme.T + 0.15
counts = torch.triu(torch.poisson(rate), diagonal=1)
counts = counts + counts.T
weights = torch.log1p(counts)
print(f"{n} nodes, share of linked pairs {(counts > 0).float().mean():.2f}")

# symmetric normalisation with self loops
adj = weights + torch.eye(n)
d = adj.sum(1).rsqrt()
adj = d[:, None] * adj * d[None, :]
target = weights / weights.max()

# node features: noisy bag of attributes
attr = torch.randn(k, 64)
x = theme @ attr + 0.3 * torch.randn(n, 64)
ax = adj @ x
ax = (ax - ax.mean(0)) / ax.std(0)


class GraphAE(nn.Module):
    def __init__(self, n_in, hidden=64, dim=24):
        super().__init__()
        self.w1 = nn.Linear(n_in, hidden)
        self.w2 = nn.Linear(hidden, hidden)
        self.w3 = nn.Linear(hidden, dim)
        self.bias = nn.Parameter(torch.zeros(()))

    def encode(self, adj, ax):
        h = F.relu(self.w1(ax))
        h = F.relu(adj @ self.w2(h))
        return adj @ self.w3(h)

    def forward(self, adj, ax):
        z = self.encode(adj, ax)
        return torch.addmm(self.bias, z, z.T), z


model = GraphAE(x.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
curve = []
for epoch in range(1, 201):
    logits, z = model(adj, ax)
    loss = F.binary_cross_entropy_with_logits(logits, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append(loss.item())
    if epoch % 50 == 0:
        print(f"epoch {epoch:3d}  loss {curve[-1]:.4f}  |z| {z.detach().norm(dim=1).mean().item():.3f}")

# do the embeddings recover the themes?  nearest-centroid with the dominant theme
with torch.no_grad():
    z = F.normalize(model.encode(adj, ax), dim=1)
dom = theme.argmax(1)
half = torch.randperm(n)
tr, te = half[: n // 2], half[n // 2:]
cent = torch.stack([z[tr[dom[tr] == c]].mean(0) for c in range(k)])
acc = ((z[te] @ F.normalize(cent, dim=1).T).argmax(1) == dom[te]).float().mean()
print(f"theme accuracy {acc.item():.3f} (chance {1 / k:.3f}), best loss {min(curve):.4f}")
'''
