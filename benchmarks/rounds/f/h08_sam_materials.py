NAME = 'h08_sam_materials'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'Each step runs forward and backward twice on the same batch and makes a weight-sized perturbation list; that is the sharpness-aware minimisation (SAM) algorithm: the second pass is at perturbed weights, so nothing is repeated.'
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

# band-gap style regression from composition vectors, few noisy labels
N, D = 3000, 84
comp = torch.distributions.Dirichlet(torch.full((D,), 0.3)).sample((N,))
en = torch.rand(D) * 3
mean_en = comp @ en
spread = ((en - mean_en[:, None]) ** 2 * comp).sum(1).clamp(min=1e-6).sqrt()
gap = 1.5 * spread + 0.6 * torch.sin(3 * mean_en) + 0.15 * torch.randn(N)
x_tr, y_tr, x_te, y_te = comp[:2400], gap[:2400], comp[2400:], gap[2400:]

class ResBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 2 * dim)
        self.fc2 = nn.Linear(2 * dim, dim)

    def forward(self, h):
        return h + self.fc2(F.silu(self.fc1(self.norm(h))))

class GapNet(nn.Module):
    def __init__(self, dim=256, depth=3):
        super().__init__()
        self.stem = nn.Linear(D, dim)
        self.blocks = nn.Sequential(*[ResBlock(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x))).squeeze(-1)

class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho = list(params), base, rho

    @torch.no_grad()
    def ascend(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.eps = [p.grad * (self.rho / norm) for p in self.params]
        for p, e in zip(self.params, self.eps):
            p.add_(e)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.params, self.eps):
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()

model = GapNet()
opt = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9, weight_decay=1e-4)
sam = SAM(model.parameters(), opt, rho=0.02)
steps = 12
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=22)

for epoch in range(22):
    model.train()
    clean, sharp = 0.0, 0.0
    for sel in torch.randperm(len(x_tr)).chunk(steps):
        xb, yb = x_tr[sel], y_tr[sel]
        loss = F.mse_loss(model(xb), yb)
        loss.backward()
        sam.ascend()
        loss2 = F.mse_loss(model(xb), yb)
        loss2.backward()
        sam.descend()
        clean += loss.item()
        sharp += loss2.item()
    sched.step()
    if epoch % 3 == 0:
        model.eval()
        with torch.no_grad():
            mae = (model(x_te) - y_te).abs().mean().item()
        print(f"epoch {epoch:2d} loss {clean / steps:.4f} sharpness {(sharp - clean) / steps:.4f} test MAE {mae:.4f}")

print("weights:", sum(p.numel() for p in model.parameters()))
'''
