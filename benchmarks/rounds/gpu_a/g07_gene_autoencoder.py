NAME = 'Trains an autoencoder of single-cell expression profiles over 18,211 genes in bfloat16 autocast.'
FAULT = 'The gene axis has the odd length 18211, so the two large matrix products (and their gradients) have misaligned rows and cannot use the fast tensor-core kernels.'
CURE = 'Pad the gene axis with zero columns to a multiple of 64 and drop them from the reconstruction before the loss.'
KIND = 'time'
FAULT_LINES = ['self.enc = nn.Sequential(nn.Linear(n_genes, width), nn.GELU(), nn.Linear(width, latent))', 'self.dec = nn.Sequential(nn.Linear(latent, width), nn.GELU(), nn.Linear(width, n_genes))', 'recon = model(x)', 'loss.backward()']
FAULT_CALLS = ['linear', 'aten::linear', 'aten::addmm', 'aten::mm', 'AddmmBackward0', 'backward', 'gemm']
FAULTY = r"""import torch
from torch import nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(11)
torch.set_float32_matmul_precision('high')

n_cells, n_genes, n_types = 24_000, 18_211, 40
width, latent = 2048, 128
batch_size, epochs = 4000, 60

# --- synthetic counts: cell types x gene programs, negative-binomial like -------
with torch.no_grad():
    programs = torch.randn(30, n_genes, device=device) * 0.7
    usage = torch.randn(n_types, 30, device=device) * 0.5
    base = torch.randn(n_genes, device=device) - 1.5
    cell_type = torch.randint(0, n_types, (n_cells,), device=device)
    X = torch.empty(n_cells, n_genes, device=device, dtype=torch.bfloat16)
    for a in range(0, n_cells, 4000):
        rate = (base + usage[cell_type[a:a + 4000]] @ programs).clamp(max=5).exp()
        X[a:a + 4000] = torch.log1p(torch.poisson(rate))
    held_out = X[:2000]
    train = X[2000:]


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_genes, width), nn.GELU(), nn.Linear(width, latent))
        self.dec = nn.Sequential(nn.Linear(latent, width), nn.GELU(), nn.Linear(width, n_genes))

    def forward(self, x):
        return self.dec(self.enc(x))


with torch.device(device):
    model = AutoEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=1e-4, fused=True)
steps_per_epoch = max(1, len(train) // batch_size)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * steps_per_epoch)

for epoch in range(epochs):
    perm = torch.randperm(len(train), device=device)
    epoch_loss = torch.zeros((), device=device)
    for i in range(steps_per_epoch):
        x = train[perm[i * batch_size:(i + 1) * batch_size]]
        with torch.autocast(device, dtype=torch.bfloat16):
            recon = model(x)
            loss = F.mse_loss(recon, x)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        epoch_loss += loss.detach()
    if epoch % 15 == 0:
        print(f'epoch {epoch:3d}  mse {epoch_loss.item() / steps_per_epoch:.4f}')

model.eval()
with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16):
    z = model.enc(held_out).float()
    mse = F.mse_loss(model.dec(z), held_out)

# how well do the codes separate the cell types?
types = cell_type[:2000]
d = torch.cdist(z, z).fill_diagonal_(float('inf'))
nn_acc = (types[d.argmin(1)] == types).float().mean()
print(f'held-out mse {mse.item():.4f}   1-NN cell-type accuracy {nn_acc.item():.3f}')
"""
CURED = r"""import torch
from torch import nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(11)
torch.set_float32_matmul_precision('high')

n_cells, n_genes, n_types = 24_000, 18_211, 40
width, latent = 2048, 128
n_pad = (n_genes + 63) // 64 * 64
batch_size, epochs = 4000, 60

# --- synthetic counts: cell types x gene programs, negative-binomial like -------
with torch.no_grad():
    programs = torch.randn(30, n_genes, device=device) * 0.7
    usage = torch.randn(n_types, 30, device=device) * 0.5
    base = torch.randn(n_genes, device=device) - 1.5
    cell_type = torch.randint(0, n_types, (n_cells,), device=device)
    X = torch.zeros(n_cells, n_pad, device=device, dtype=torch.bfloat16)
    for a in range(0, n_cells, 4000):
        rate = (base + usage[cell_type[a:a + 4000]] @ programs).clamp(max=5).exp()
        X[a:a + 4000, :n_genes] = torch.log1p(torch.poisson(rate))
    held_out = X[:2000]
    train = X[2000:]


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_pad, width), nn.GELU(), nn.Linear(width, latent))
        self.dec = nn.Sequential(nn.Linear(latent, width), nn.GELU(), nn.Linear(width, n_pad))

    def forward(self, x):
        return self.dec(self.enc(x))


with torch.device(device):
    model = AutoEncoder()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=1e-4, fused=True)
steps_per_epoch = max(1, len(train) // batch_size)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs * steps_per_epoch)

for epoch in range(epochs):
    perm = torch.randperm(len(train), device=device)
    epoch_loss = torch.zeros((), device=device)
    for i in range(steps_per_epoch):
        x = train[perm[i * batch_size:(i + 1) * batch_size]]
        with torch.autocast(device, dtype=torch.bfloat16):
            recon = model(x)
            loss = F.mse_loss(recon[:, :n_genes], x[:, :n_genes])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        epoch_loss += loss.detach()
    if epoch % 15 == 0:
        print(f'epoch {epoch:3d}  mse {epoch_loss.item() / steps_per_epoch:.4f}')

model.eval()
with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16):
    z = model.enc(held_out).float()
    mse = F.mse_loss(model.dec(z)[:, :n_genes], held_out[:, :n_genes])

# how well do the codes separate the cell types?
types = cell_type[:2000]
d = torch.cdist(z, z).fill_diagonal_(float('inf'))
nn_acc = (types[d.argmin(1)] == types).float().mean()
print(f'held-out mse {mse.item():.4f}   1-NN cell-type accuracy {nn_acc.item():.3f}')
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'n_cells, n_genes, n_types = 24_000, 18_211, 40': 'n_cells, n_genes, n_types = 4_000, 211, 10', 'width, latent = 2048, 128': 'width, latent = 64, 16', 'batch_size, epochs = 4000, 60': 'batch_size, epochs = 400, 3'}
