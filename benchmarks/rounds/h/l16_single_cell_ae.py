NAME = 'Trains a Poisson autoencoder on a single-cell count matrix.'
FAULT = 'The count matrix stays genes x cells, so every minibatch of cells gathers scattered columns instead of contiguous rows.'
CURE = 'Transpose once to cells x genes (contiguous) and index rows.'
KIND = 'time'
FAULT_LINES = [
    'x = counts[:, idx].T',
    'counts = counts[detected > 0.01]',
    'for idx, x, s in make_batches():',
]
FAULT_CALLS = ['make_batches', '__getitem__', 'Tensor.__getitem__', 'aten::index', 'aten::index_select', 'index']
FAULTY = r"""
# single-cell RNA: Poisson autoencoder with a small latent space
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(64)

n_genes, n_cells, n_types = 2000, 8000, 9
latent_dim, hidden = 10, 32
batch_size, n_epochs = 256, 12

# ---- count matrix ----
cell_type = torch.randint(0, n_types, (n_cells,))
programme = torch.rand(n_genes, n_types).pow(6) * 8 + 0.05
depth = torch.rand(n_cells) * 0.8 + 0.4
counts = torch.poisson(programme[:, cell_type] * depth)

size_factor = counts.sum(0)
size_factor = size_factor / size_factor.median()
detected = (counts > 0).float().mean(1)
counts = counts[detected > 0.01]
n_genes = counts.shape[0]


class CountAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_genes, hidden), nn.ReLU(),
                                 nn.Linear(hidden, latent_dim))
        self.dec = nn.Sequential(nn.Linear(latent_dim, hidden), nn.ReLU(),
                                 nn.Linear(hidden, n_genes))

    def forward(self, x, s):
        z = self.enc(torch.log1p(x / s))
        return z, self.dec(z) + s.log()


def make_batches(shuffle=True):
    order = torch.randperm(n_cells) if shuffle else torch.arange(n_cells)
    for idx in order.split(batch_size):
        x = counts[:, idx].T
        yield idx, x, size_factor[idx].unsqueeze(1)


ae = CountAE()
adam = torch.optim.Adam(ae.parameters(), lr=2e-3)

curve = []
for epoch in range(n_epochs):
    nll = 0.0
    for idx, x, s in make_batches():
        _, log_rate = ae(x, s)
        loss = F.poisson_nll_loss(log_rate, x, log_input=True, full=False)
        adam.zero_grad()
        loss.backward()
        adam.step()
        nll += loss.item() * len(idx)
    curve.append(nll / n_cells)

# ---- how well do the latent coordinates separate the cell types? ----
with torch.no_grad():
    latent = torch.zeros(n_cells, latent_dim)
    for idx, x, s in make_batches(shuffle=False):
        latent[idx] = ae(x, s)[0]

onehot = F.one_hot(cell_type, n_types).float()
centroid = onehot.T @ latent / onehot.sum(0).unsqueeze(1)
nearest = torch.cdist(latent, centroid).argmin(1)
purity = (nearest == cell_type).float().mean().item()

print('poisson nll:', ' '.join(f'{c:.4f}' for c in curve[::3]))
print(f'{n_genes} genes kept, nearest-centroid purity {purity:.3f}')
"""
CURED = r"""
# single-cell RNA: Poisson autoencoder with a small latent space
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(64)

n_genes, n_cells, n_types = 2000, 8000, 9
latent_dim, hidden = 10, 32
batch_size, n_epochs = 256, 12

# ---- count matrix ----
cell_type = torch.randint(0, n_types, (n_cells,))
programme = torch.rand(n_genes, n_types).pow(6) * 8 + 0.05
depth = torch.rand(n_cells) * 0.8 + 0.4
counts = torch.poisson(programme[:, cell_type] * depth)

size_factor = counts.sum(0)
size_factor = size_factor / size_factor.median()
detected = (counts > 0).float().mean(1)
counts = counts[detected > 0.01].T.contiguous()
n_genes = counts.shape[1]


class CountAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_genes, hidden), nn.ReLU(),
                                 nn.Linear(hidden, latent_dim))
        self.dec = nn.Sequential(nn.Linear(latent_dim, hidden), nn.ReLU(),
                                 nn.Linear(hidden, n_genes))

    def forward(self, x, s):
        z = self.enc(torch.log1p(x / s))
        return z, self.dec(z) + s.log()


def make_batches(shuffle=True):
    order = torch.randperm(n_cells) if shuffle else torch.arange(n_cells)
    for idx in order.split(batch_size):
        x = counts[idx]
        yield idx, x, size_factor[idx].unsqueeze(1)


ae = CountAE()
adam = torch.optim.Adam(ae.parameters(), lr=2e-3)

curve = []
for epoch in range(n_epochs):
    nll = 0.0
    for idx, x, s in make_batches():
        _, log_rate = ae(x, s)
        loss = F.poisson_nll_loss(log_rate, x, log_input=True, full=False)
        adam.zero_grad()
        loss.backward()
        adam.step()
        nll += loss.item() * len(idx)
    curve.append(nll / n_cells)

# ---- how well do the latent coordinates separate the cell types? ----
with torch.no_grad():
    latent = torch.zeros(n_cells, latent_dim)
    for idx, x, s in make_batches(shuffle=False):
        latent[idx] = ae(x, s)[0]

onehot = F.one_hot(cell_type, n_types).float()
centroid = onehot.T @ latent / onehot.sum(0).unsqueeze(1)
nearest = torch.cdist(latent, centroid).argmin(1)
purity = (nearest == cell_type).float().mean().item()

print('poisson nll:', ' '.join(f'{c:.4f}' for c in curve[::3]))
print(f'{n_genes} genes kept, nearest-centroid purity {purity:.3f}')
"""
