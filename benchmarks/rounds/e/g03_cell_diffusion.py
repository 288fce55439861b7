NAME = 'g03_cell_diffusion'
FAULT = 'The n x n Markov matrix is raised to a power (n^3 matrix products) before it meets the thin expression matrix.'
CURE = 'Apply the matrix t times to the thin expression matrix instead of forming its power.'
KIND = 'time'
FAULT_LINES = [
    '    Pt = torch.linalg.matrix_power(P, t)',
    '    return Pt @ X',
]
FAULT_CALLS = ['torch.linalg.matrix_power', 'aten::linalg_matrix_power', 'aten::mm']

FAULTY = r'''
# imputation of drop-outs by diffusion on the cell-cell affinity graph, choose t on held-out entries
import torch

torch.set_num_threads(1)
torch.manual_seed(11)
n_cells, n_genes, n_prog = 3000, 60, 6

# expression driven by a handful of programmes along a branching trajectory
pseudo = torch.rand(n_cells, 1)
branch = torch.randint(0, 3, (n_cells,))
prog = torch.cat([torch.sin(pseudo * k * 2.5) for k in range(1, n_prog)] + [branch[:, None].float()], 1)
load = torch.randn(n_prog, n_genes) * (torch.rand(n_prog, n_genes) < 0.5)
clean = prog @ load
obs = clean + 1.2 * torch.randn_like(clean)
dropped = torch.rand_like(obs) < 0.25
X0 = torch.where(dropped, torch.zeros_like(obs), obs)


def affinity(X, k=15):
    U, S, V = torch.pca_lowrank(X, q=10, niter=3)
    Z = U * S
    D = torch.cdist(Z, Z)
    sigma = D.kthvalue(k, dim=1).values
    W = torch.exp(-(D / sigma[:, None]) ** 2)
    W = W + W.T
    return W / W.sum(1, keepdim=True)


def impute(P, X, t):
    Pt = torch.linalg.matrix_power(P, t)
    return Pt @ X


P = affinity(X0)
scores = {}
for t in (1, 2, 3, 4, 6, 8, 11, 15):
    Y = impute(P, X0, t)
    # rescale every gene back to its observed 99th percentile
    Y = Y * (X0.quantile(0.99, dim=0) / Y.quantile(0.99, dim=0).clamp_min(1e-6))
    r = torch.stack([
        torch.corrcoef(torch.stack([Y[dropped[:, g], g], clean[dropped[:, g], g]]))[0, 1]
        for g in range(n_genes) if load[:, g].abs().sum() > 0
    ])
    scores[t] = r.mean().item()
    print(f"t={t:2d}  mean held-out r = {scores[t]:.4f}   worst gene {r.min():.4f}")

best = max(scores, key=scores.get)
print("use t =", best)
'''

CURED = r'''
# imputation of drop-outs by diffusion on the cell-cell affinity graph, choose t on held-out entries
import torch

torch.set_num_threads(1)
torch.manual_seed(11)
n_cells, n_genes, n_prog = 3000, 60, 6

# expression driven by a handful of programmes along a branching trajectory
pseudo = torch.rand(n_cells, 1)
branch = torch.randint(0, 3, (n_cells,))
prog = torch.cat([torch.sin(pseudo * k * 2.5) for k in range(1, n_prog)] + [branch[:, None].float()], 1)
load = torch.randn(n_prog, n_genes) * (torch.rand(n_prog, n_genes) < 0.5)
clean = prog @ load
obs = clean + 1.2 * torch.randn_like(clean)
dropped = torch.rand_like(obs) < 0.25
X0 = torch.where(dropped, torch.zeros_like(obs), obs)


def affinity(X, k=15):
    U, S, V = torch.pca_lowrank(X, q=10, niter=3)
    Z = U * S
    D = torch.cdist(Z, Z)
    sigma = D.kthvalue(k, dim=1).values
    W = torch.exp(-(D / sigma[:, None]) ** 2)
    W = W + W.T
    return W / W.sum(1, keepdim=True)


def impute(P, X, t):
    for _ in range(t):
        X = P @ X
    return X


P = affinity(X0)
scores = {}
for t in (1, 2, 3, 4, 6, 8, 11, 15):
    Y = impute(P, X0, t)
    # rescale every gene back to its observed 99th percentile
    Y = Y * (X0.quantile(0.99, dim=0) / Y.quantile(0.99, dim=0).clamp_min(1e-6))
    r = torch.stack([
        torch.corrcoef(torch.stack([Y[dropped[:, g], g], clean[dropped[:, g], g]]))[0, 1]
        for g in range(n_genes) if load[:, g].abs().sum() > 0
    ])
    scores[t] = r.mean().item()
    print(f"t={t:2d}  mean held-out r = {scores[t]:.4f}   worst gene {r.min():.4f}")

best = max(scores, key=scores.get)
print("use t =", best)
'''
