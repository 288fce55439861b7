NAME = 'contrastive pretraining on sensor vectors'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(57)
N, D, BATCH, STEPS, TAU = 8192, 128, 384, 45, 0.2
centres = torch.randn(40, D)
cluster = torch.randint(0, 40, (N,))
data = centres[cluster] + 0.8 * torch.randn(N, D)

encoder = nn.Sequential(nn.Linear(D, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 128))
opt = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)

def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)

def nt_xent(z):
    z = F.normalize(z, dim=1)
    sim = z @ z.T / TAU
    mask = torch.eye(len(z), dtype=torch.bool)
    sim = sim.masked_fill(mask, float("-inf"))
    half = len(z) // 2
    target = torch.cat([torch.arange(half, 2 * half), torch.arange(half)])
    return F.cross_entropy(sim, target)

losses = []
for step in range(STEPS):
    xb = data[torch.randint(0, N, (BATCH,))]
    z = encoder(torch.cat([augment(xb), augment(xb)]))
    loss = nt_xent(z)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step % 5 == 0:
        with torch.no_grad():
            spread = F.normalize(z.detach()[:32], dim=1).std(0).mean().item()
        print(f"{step:3d} loss {losses[-1]:.4f} spread {spread:.4f}")

with torch.no_grad():
    emb = F.normalize(encoder(data[:1500]), dim=1)
    near = (emb @ emb.T).fill_diagonal_(-1).argmax(1)
print("1-nn purity", round((cluster[:1500][near] == cluster[:1500]).float().mean().item(), 4))
'''
