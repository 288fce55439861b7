NAME = "Simulates an hourly DC power flow with redispatch on a synthetic grid and fits a neural surrogate of the line loadings."
FAULT = "The susceptance matrix is constant, but every hour torch.linalg.solve factorises it again."
CURE = "Factorise once with torch.linalg.lu_factor and call torch.linalg.lu_solve every hour."
KIND = "time"
FAULT_LINES = ["theta = torch.linalg.solve(B, inj[1:, None])", "f = flows(B, inj)", "def flows(B, inj):"]
FAULT_CALLS = ["linalg_solve", "linalg_solve_ex", "_linalg_solve_ex", "solve", "flows", "simulate"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
rng = np.random.default_rng(5)

n_bus, n_extra = 700, 500
# ring + random chords
frm = np.concatenate([np.arange(n_bus), rng.integers(0, n_bus, n_extra)])
to = np.concatenate([(np.arange(n_bus) + 1) % n_bus, rng.integers(0, n_bus, n_extra)])
keep = frm != to
frm, to = torch.from_numpy(frm[keep]), torch.from_numpy(to[keep])
n_line = len(frm)
b_line = torch.from_numpy(rng.uniform(5, 20, n_line))

A = torch.zeros(n_line, n_bus, dtype=torch.float64)
A[torch.arange(n_line), frm] = 1.0
A[torch.arange(n_line), to] = -1.0
B = (A.T @ (b_line[:, None] * A))[1:, 1:].contiguous()      # bus 0 is the slack

gens = torch.from_numpy(rng.choice(n_bus, 90, replace=False))
base_load = torch.from_numpy(rng.gamma(2.0, 0.4, n_bus))
share = torch.full((90,), 1 / 90, dtype=torch.float64)
limit = torch.from_numpy(rng.uniform(6.0, 14.0, n_line))


def flows(B, inj):
    theta = torch.zeros(n_bus, dtype=torch.float64)
    theta = torch.linalg.solve(B, inj[1:, None])
    theta = torch.cat([torch.zeros(1, dtype=torch.float64), theta[:, 0]])
    return b_line * (theta[frm] - theta[to])


def simulate(hours):
    global share
    loads, loadings = [], []
    for h in range(hours):
        shape = 1 + 0.3 * np.sin(2 * np.pi * (h % 24) / 24)
        load = base_load * shape * torch.from_numpy(rng.uniform(0.7, 1.3, n_bus))
        inj = -load
        inj[gens] += share * load.sum()
        f = flows(B, inj)
        rate = f.abs() / limit
        # shift generation away from buses beside overloaded lines
        stress = torch.zeros(n_bus, dtype=torch.float64)
        stress.index_add_(0, frm, (rate - 1).clamp(min=0))
        stress.index_add_(0, to, (rate - 1).clamp(min=0))
        share = share * torch.exp(-0.02 * stress[gens])
        share = share / share.sum()
        loads.append(torch.cat([load, share]).float())
        loadings.append(rate.float())
    return torch.stack(loads), torch.stack(loadings)


X, Y = simulate(24 * 14)
print("hours", len(X), "mean loading", round(Y.mean().item(), 4), "max", round(Y.max().item(), 3))

# surrogate of the loadings
X = (X - X.mean(0)) / (X.std(0) + 1e-6)
n_tr = 24 * 11
net = nn.Sequential(nn.Linear(X.shape[1], 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, n_line))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(60):
    order = torch.randperm(n_tr)
    for k in range(0, n_tr, 66):
        idx = order[k:k + 66]
        loss = nn.functional.smooth_l1_loss(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    err = (net(X[n_tr:]) - Y[n_tr:]).abs().mean().item()
print(f"surrogate: train loss {loss.item():.4f}, test abs error {err:.3f}")
'''.replace("    theta = torch.zeros(n_bus, dtype=torch.float64)\n", "")
CURED = FAULTY.replace("theta = torch.linalg.solve(B, inj[1:, None])", "theta = torch.linalg.lu_solve(*B, inj[1:, None])").replace(
    "      # bus 0 is the slack\n", "      # bus 0 is the slack\nB = torch.linalg.lu_factor(B)\n")
