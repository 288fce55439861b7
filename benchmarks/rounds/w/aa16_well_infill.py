NAME = "Trains a convolutional network to infill porosity maps from sparse wells, drawing fresh Gaussian random fields for each step."
FAULT = "The Gaussian field distribution is built again in each call, so the same covariance matrix is checked and factorised by Cholesky in every training step."
CURE = "Build the MultivariateNormal once outside the function and only sample from it in the loop."
KIND = "time"
FAULT_LINES = ["prior = MultivariateNormal(mean, covariance_matrix=cov)", "poro = draw_fields(BATCH)"]
FAULT_CALLS = ["cholesky", "linalg_cholesky_ex", "MultivariateNormal", "draw_fields", "linalg_cholesky"]
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import MultivariateNormal

torch.set_num_threads(1)
torch.manual_seed(11)

NX = NY = 36
BATCH = 8
N_WELLS = 60

# anisotropic exponential variogram on the grid, long axis at 30 degrees
yy, xx = torch.meshgrid(torch.arange(NY), torch.arange(NX), indexing="ij")
pts = torch.stack([xx.reshape(-1), yy.reshape(-1)], 1).float()
rot = torch.tensor([[0.866, -0.5], [0.5, 0.866]])
scaled = pts @ rot / torch.tensor([14.0, 5.0])
cov = 0.04 ** 2 * torch.exp(-torch.cdist(scaled, scaled))
cov = cov + 1e-5 * torch.eye(NX * NY)
mean = 0.20 + 0.0015 * (pts[:, 1] - NY / 2)


def draw_fields(n):
    """Porosity realisations on the grid, shape (n, 1, NY, NX)."""
    prior = MultivariateNormal(mean, covariance_matrix=cov)
    return prior.sample((n,)).view(n, 1, NY, NX)


def well_mask(n):
    m = torch.zeros(n, NY * NX)
    idx = torch.rand(n, NY * NX).topk(N_WELLS, dim=1).indices
    return m.scatter_(1, idx, 1.0).view(n, 1, NY, NX)


class Infill(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.inp = nn.Conv2d(2, w, 5, padding=2)
        self.mid = nn.ModuleList([nn.Conv2d(w, w, 3, padding=d, dilation=d) for d in (1, 2, 4, 2, 1)])
        self.out = nn.Conv2d(w, 1, 3, padding=1)

    def forward(self, values, mask):
        h = F.relu(self.inp(torch.cat([values, mask], 1)))
        for conv in self.mid:
            h = h + F.relu(conv(h))
        return self.out(h)


net = Infill()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
mu, sd = 0.20, 0.04
history = []

for it in range(80):
    poro = draw_fields(BATCH)
    mask = well_mask(BATCH)
    z = (poro - mu) / sd
    pred = net(z * mask, mask)
    loss = F.mse_loss(pred, z)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    history.append(loss.item())
    if (it + 1) % 20 == 0:
        print(f"it {it + 1:3d}  mse {sum(history[-20:]) / 20:.3f}")

net.eval()
with torch.no_grad():
    truth = (draw_fields(16) - mu) / sd
    mask = well_mask(16)
    est = net(truth * mask, mask)
    r2 = 1 - ((est - truth) ** 2).mean() / truth.var()
print(f"hold-out R2 {r2:.3f}, smoothing ratio {est.std() / truth.std():.3f}")
'''
CURED = FAULTY.replace(
    "    prior = MultivariateNormal(mean, covariance_matrix=cov)\n", "",
).replace(
    "def draw_fields(n):",
    "prior = MultivariateNormal(mean, covariance_matrix=cov)\n\n\ndef draw_fields(n):",
)
