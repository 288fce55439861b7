NAME = 'Denoising autoencoder for gene expression with a layer diary for the lab notebook'
FAULT = 'layer_report (singular values of each weight, quantiles of gradients) is computed at every step, although its result is kept only at every 40th step'
CURE = 'Call layer_report only inside the if that keeps its result'
KIND = 'time'
FAULT_LINES = ['report = layer_report(model)', 'sv = torch.linalg.svdvals(W)', 'q = torch.quantile(p.grad.abs().flatten(), qs)']
FAULT_CALLS = ['layer_report', 'torch.linalg.svdvals', 'torch.quantile']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(31)
rng = np.random.default_rng(31)

# ---------------------------------------------------------------- expression matrix
n_cells, n_genes, n_programs = 3000, 600, 12
usage = rng.gamma(0.6, 1.0, (n_cells, n_programs))
loadings = rng.gamma(0.3, 1.0, (n_programs, n_genes))
counts = rng.poisson(usage @ loadings)
X = np.log1p(counts).astype(np.float32)
X = (X - X.mean(0)) / (X.std(0) + 1e-4)
X = torch.from_numpy(X.astype(np.float32))
train, held = X[:2600], X[2600:]


class DAE(nn.Module):
    def __init__(self, d, h1=256, h2=48):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h1), nn.ELU(), nn.Linear(h1, h2))
        self.dec = nn.Sequential(nn.Linear(h2, h1), nn.ELU(), nn.Linear(h1, d))

    def forward(self, x):
        return self.dec(self.enc(x))


@torch.no_grad()
def layer_report(model):
    qs = torch.tensor([0.05, 0.5, 0.95])
    rows = {}
    for name, p in model.named_parameters():
        if p.ndim != 2:
            continue
        W = p.detach()
        sv = torch.linalg.svdvals(W)
        ent = sv / sv.sum()
        q = torch.quantile(p.grad.abs().flatten(), qs)
        rows[name] = {
            "top_sv": sv[0].item(),
            "eff_rank": torch.exp(-(ent * ent.clamp_min(1e-12).log()).sum()).item(),
            "grad_q": [round(v, 6) for v in q.tolist()],
        }
    return rows


model = DAE(n_genes)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)
noise = torch.Generator().manual_seed(5)
diary = {}
step = 0
for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(train), generator=noise).split(256):
        clean = train[idx]
        keep = (torch.rand(clean.shape, generator=noise) > 0.25).float()
        loss = ((model(clean * keep) - clean) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        report = layer_report(model)
        opt.step()
        if step % 40 == 0:
            diary[step] = report
        step += 1
    model.eval()
    with torch.no_grad():
        val = ((model(held) - held) ** 2).mean().item()
    print(f"epoch {epoch}  train {loss.item():.4f}  held-out {val:.4f}")

print("diary entries:", sorted(diary))
for name, row in diary[80].items():
    print(f"{name:14s} top sv {row['top_sv']:.3f}  effective rank {row['eff_rank']:.1f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(31)
rng = np.random.default_rng(31)

# ---------------------------------------------------------------- expression matrix
n_cells, n_genes, n_programs = 3000, 600, 12
usage = rng.gamma(0.6, 1.0, (n_cells, n_programs))
loadings = rng.gamma(0.3, 1.0, (n_programs, n_genes))
counts = rng.poisson(usage @ loadings)
X = np.log1p(counts).astype(np.float32)
X = (X - X.mean(0)) / (X.std(0) + 1e-4)
X = torch.from_numpy(X.astype(np.float32))
train, held = X[:2600], X[2600:]


class DAE(nn.Module):
    def __init__(self, d, h1=256, h2=48):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h1), nn.ELU(), nn.Linear(h1, h2))
        self.dec = nn.Sequential(nn.Linear(h2, h1), nn.ELU(), nn.Linear(h1, d))

    def forward(self, x):
        return self.dec(self.enc(x))


@torch.no_grad()
def layer_report(model):
    qs = torch.tensor([0.05, 0.5, 0.95])
    rows = {}
    for name, p in model.named_parameters():
        if p.ndim != 2:
            continue
        W = p.detach()
        sv = torch.linalg.svdvals(W)
        ent = sv / sv.sum()
        q = torch.quantile(p.grad.abs().flatten(), qs)
        rows[name] = {
            "top_sv": sv[0].item(),
            "eff_rank": torch.exp(-(ent * ent.clamp_min(1e-12).log()).sum()).item(),
            "grad_q": [round(v, 6) for v in q.tolist()],
        }
    return rows


model = DAE(n_genes)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)
noise = torch.Generator().manual_seed(5)
diary = {}
step = 0
for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(train), generator=noise).split(256):
        clean = train[idx]
        keep = (torch.rand(clean.shape, generator=noise) > 0.25).float()
        loss = ((model(clean * keep) - clean) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        if step % 40 == 0:
            diary[step] = layer_report(model)
        opt.step()
        step += 1
    model.eval()
    with torch.no_grad():
        val = ((model(held) - held) ** 2).mean().item()
    print(f"epoch {epoch}  train {loss.item():.4f}  held-out {val:.4f}")

print("diary entries:", sorted(diary))
for name, row in diary[80].items():
    print(f"{name:14s} top sv {row['top_sv']:.3f}  effective rank {row['eff_rank']:.1f}")
"""
