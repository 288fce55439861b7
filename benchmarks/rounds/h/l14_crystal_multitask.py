NAME = 'Multi-task regression of crystal properties with gradient surgery (PCGrad).'
FAULT = None
CURE = None
KIND = None
SUSPICION = "Three backward passes with retain_graph=True over the same trunk in each step; PCGrad needs every task's own gradient, one backward of the summed loss is another algorithm with other results."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
# multi-task regression for crystals: three properties, one trunk, conflicting gradients
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)
gen = np.random.default_rng(31)

N, D, H = 6000, 48, 384
TASKS = ('band_gap', 'bulk_modulus', 'formation_energy')

X = torch.from_numpy(gen.normal(size=(N, D)).astype('float32'))
mix = torch.randn(D, 6) / D ** 0.5
latent = torch.tanh(2 * X @ mix)
targets = {
    'band_gap': F.relu(latent[:, 0] + latent[:, 1] * latent[:, 2]),
    'bulk_modulus': 5 * (latent[:, 3] - latent[:, 0]) + latent[:, 4] ** 2,
    'formation_energy': -3 * latent[:, 0] * latent[:, 5],
}
targets = {k: v + 0.05 * torch.randn(N) for k, v in targets.items()}
train, test = slice(0, 5200), slice(5200, N)

trunk = nn.Sequential(
    nn.Linear(D, H), nn.SiLU(),
    nn.Linear(H, H), nn.SiLU(),
    nn.Linear(H, H), nn.SiLU(),
)
heads = nn.ModuleDict({t: nn.Linear(H, 1) for t in TASKS})
shared = list(trunk.parameters())
optimizer = torch.optim.Adam(list(trunk.parameters()) + list(heads.parameters()), lr=1e-3)


def flat_grad(params):
    return torch.cat([p.grad.reshape(-1) for p in params])


def put_grad(params, vector):
    i = 0
    for p in params:
        n = p.numel()
        p.grad = vector[i:i + n].view_as(p).clone()
        i += n


def surgery(grads):
    '''PCGrad: project every task gradient off the ones it disagrees with'''
    out = []
    n_conflict = 0
    for i, g in enumerate(grads):
        g = g.clone()
        others = [j for j in range(len(grads)) if j != i]
        gen.shuffle(others)
        for j in others:
            dot = g @ grads[j]
            if dot < 0:
                g -= dot / (grads[j] @ grads[j]) * grads[j]
                n_conflict += 1
        out.append(g)
    return torch.stack(out).sum(0), n_conflict


def task_losses(x, idx):
    h = trunk(x)
    return {t: F.mse_loss(heads[t](h).squeeze(1), targets[t][idx]) for t in TASKS}


conflicts = 0
for epoch in range(18):
    order = torch.randperm(5200)
    for idx in order.split(128):
        losses = task_losses(X[idx], idx)
        optimizer.zero_grad()
        grads = []
        for t in TASKS:
            for p in shared:
                p.grad = None
            losses[t].backward(retain_graph=True)
            grads.append(flat_grad(shared))
        merged, c = surgery(grads)
        conflicts += c
        put_grad(shared, merged)
        optimizer.step()

with torch.no_grad():
    h = trunk(X[test])
    r2 = {}
    for t in TASKS:
        y = targets[t][test]
        e = heads[t](h).squeeze(1) - y
        r2[t] = 1 - (e.square().sum() / (y - y.mean()).square().sum()).item()
print('conflicting pairs projected:', conflicts)
print('test R2:', {k: round(v, 3) for k, v in r2.items()})
"""
