NAME = 'contrastive pretraining on multi-view sensor data'
FAULT = 'the NT-Xent loss loops in Python over the anchors of the batch'
CURE = 'compute the whole similarity matrix at once and use cross_entropy on its rows'
KIND = 'time'
FAULT_LINES = ['for i in range(n):', 'sim = F.cosine_similarity(z[i].unsqueeze(0), z, dim=1) / tau', 'keep = torch.arange(n) != i', 'loss = loss + torch.logsumexp(sim[keep], 0) - sim[pos]', 'loss = nt_xent(net(v1), net(v2))', 'loss.backward()']
FAULT_CALLS = ['nt_xent', 'torch.nn.functional.cosine_similarity', 'torch.logsumexp', 'Tensor.backward', 'Tensor.__getitem__']
FAULTY = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
N, D, BS = 1920, 96, 64


def nt_xent(z1, z2, tau=0.2):
    z = torch.cat([z1, z2])
    n = len(z)
    loss = 0.0
    for i in range(n):
        pos = (i + n // 2) % n
        sim = F.cosine_similarity(z[i].unsqueeze(0), z, dim=1) / tau
        keep = torch.arange(n) != i
        loss = loss + torch.logsumexp(sim[keep], 0) - sim[pos]
    return loss / n


net = nn.Sequential(
    nn.Linear(D, 512), nn.BatchNorm1d(512), nn.ReLU(),
    nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(),
    nn.Linear(512, 64),
)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
latent = torch.randn(N, 12)
mix = torch.randn(12, D)
X = torch.tanh(latent @ mix) + 0.1 * torch.randn(N, D)

for epoch in range(4):
    tot, steps = 0.0, 0
    for idx in torch.randperm(N).split(BS):
        x = X[idx]
        v1 = x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)
        v2 = x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)
        loss = nt_xent(net(v1), net(v2))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item(); steps += 1
    print(f"epoch {epoch}: nt-xent {tot / steps:.4f}")
'''
CURED = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
N, D, BS = 1920, 96, 64


def nt_xent(z1, z2, tau=0.2):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    n = len(z)
    sim = (z @ z.T / tau).masked_fill(torch.eye(n, dtype=torch.bool), float("-inf"))
    pos = (torch.arange(n) + n // 2) % n
    return F.cross_entropy(sim, pos)


net = nn.Sequential(
    nn.Linear(D, 512), nn.BatchNorm1d(512), nn.ReLU(),
    nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(),
    nn.Linear(512, 64),
)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
latent = torch.randn(N, 12)
mix = torch.randn(12, D)
X = torch.tanh(latent @ mix) + 0.1 * torch.randn(N, D)

for epoch in range(4):
    tot, steps = 0.0, 0
    for idx in torch.randperm(N).split(BS):
        x = X[idx]
        v1 = x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)
        v2 = x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)
        loss = nt_xent(net(v1), net(v2))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item(); steps += 1
    print(f"epoch {epoch}: nt-xent {tot / steps:.4f}")
'''
