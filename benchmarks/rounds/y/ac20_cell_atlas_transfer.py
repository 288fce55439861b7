NAME = "Embeds single-cell counts with an autoencoder and transfers cell-type labels from a reference atlas by nearest neighbours."
FAULT = "Distances are formed by broadcasting to a (queries, reference, latent) tensor and its square, which holds hundreds of MiB though only the (queries, reference) sums are wanted."
CURE = "Use torch.cdist, which never builds the three-dimensional difference."
KIND = "memory"
FAULT_LINES = ["diff = q[:, None, :] - ref[None, :, :]", "d2 = (diff ** 2).sum(-1)", "def transfer(z_query, z_ref, ref_labels, k=15, block=400):"]
FAULT_CALLS = ["sub", "pow", "transfer", "sum", "mul"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(14)
np.random.seed(14)

n_ref, n_query, n_genes, n_types = 5000, 1600, 600, 12


def simulate_counts(n, profiles, batch_shift):
    types = np.random.randint(0, n_types, n)
    depth = np.random.lognormal(0.0, 0.3, (n, 1)) * 900
    lam = profiles[types] * batch_shift
    lam = lam / lam.sum(1, keepdims=True) * depth
    counts = np.random.poisson(lam * np.random.gamma(4.0, 0.25, lam.shape))
    return counts.astype(np.float32), types


def log_normalise(counts):
    size = counts.sum(1, keepdims=True)
    return torch.from_numpy(np.log1p(counts / size * 1e3).astype(np.float32))


class CellAE(nn.Module):
    def __init__(self, n_in, latent=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, latent))
        self.dec = nn.Sequential(nn.Linear(latent, 256), nn.ReLU(), nn.Linear(256, n_in))

    def forward(self, x):
        z = self.enc(x)
        return self.dec(z), z


def train(model, x, epochs=18, bs=128):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    for epoch in range(epochs):
        model.train()
        perm = torch.randperm(len(x))
        total = 0.0
        for a in range(0, len(x), bs):
            xb = x[perm[a:a + bs]]
            rec, _ = model(xb)
            loss = F.mse_loss(rec, xb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if epoch % 6 == 5:
            print(f"epoch {epoch + 1:2d} reconstruction {total / len(x):.5f}")


@torch.no_grad()
def embed(model, x):
    model.eval()
    return torch.cat([model.enc(chunk) for chunk in x.split(1024)])


def transfer(z_query, z_ref, ref_labels, k=15, block=400):
    ref = z_ref
    votes = []
    for q in z_query.split(block):
        diff = q[:, None, :] - ref[None, :, :]
        d2 = (diff ** 2).sum(-1)
        near = d2.topk(k, largest=False)
        w = torch.exp(-near.values / near.values.mean(1, keepdim=True))
        onehot = F.one_hot(ref_labels[near.indices], n_types).float()
        votes.append((w[..., None] * onehot).sum(1))
    return torch.cat(votes)


profiles = np.random.gamma(0.4, 1.0, (n_types, n_genes)) + 0.02
base = np.random.gamma(0.6, 1.0, (1, n_genes))
profiles = 0.35 * profiles + base
ref_counts, ref_types = simulate_counts(n_ref, profiles, 1.0)
qry_counts, qry_types = simulate_counts(n_query, profiles, np.random.lognormal(0, 0.15, n_genes))
x_ref, x_qry = log_normalise(ref_counts), log_normalise(qry_counts)

model = CellAE(n_genes)
train(model, x_ref)
z_ref, z_qry = embed(model, x_ref), embed(model, x_qry)
votes = transfer(z_qry, z_ref, torch.from_numpy(ref_types))
pred = votes.argmax(1).numpy()
conf = (votes.max(1).values / votes.sum(1)).mean().item()
print(f"label transfer accuracy {np.mean(pred == qry_types):.4f}, mean confidence {conf:.4f}")
for t in range(0, n_types, 4):
    print(f"  type {t}: recall {np.mean(pred[qry_types == t] == t):.3f}")
'''
CURED = FAULTY.replace("        diff = q[:, None, :] - ref[None, :, :]\n        d2 = (diff ** 2).sum(-1)\n", "        d2 = torch.cdist(q, ref) ** 2\n")
