NAME = 'Learns a k-means codebook for picture patches and a network that predicts the code of a noisy patch.'
FAULT = 'The distances to all codes are made by broadcasting, which holds patches x codes x 64 differences and their squares at once.'
CURE = 'Use torch.cdist (or the expanded square), which only makes the patches x codes table.'
KIND = 'memory'
FAULT_LINES = [
    'return (x[:, None, :] - self.codes[None, :, :]).pow(2).sum(-1)',
    'd = self.distances(x)',
]
FAULT_CALLS = ['distances', 'sub', 'pow', 'assign', 'sum']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
torch.set_num_threads(1)

# patches of synthetic landscapes, quantised with a learnt codebook
N, SIDE, K = 24, 240, 48
yy, xx = torch.meshgrid(torch.linspace(0, 6.28, SIDE), torch.linspace(0, 6.28, SIDE), indexing="ij")
f = torch.randint(1, 7, (N, 6, 2)).float()
ph = 6.28 * torch.rand(N, 6)
pics = sum(torch.sin(f[:, k, :1, None] * xx + f[:, k, 1:, None] * yy + ph[:, k, None, None]) / (k + 1) for k in range(6))
pics = pics + 0.15 * torch.randn_like(pics)
patches = F.unfold(pics[:, None], 8, stride=8).transpose(1, 2).reshape(-1, 64).contiguous()
patches = patches - patches.mean(1, keepdim=True)


class Codebook:
    def __init__(self, data, k):
        self.codes = data[torch.randperm(len(data))[:k]].clone()

    def distances(self, x):
        return (x[:, None, :] - self.codes[None, :, :]).pow(2).sum(-1)

    def assign(self, x):
        d = self.distances(x)
        best, idx = d.min(1)
        return best.mean(), idx

    def refine(self, x):
        err, idx = self.assign(x)
        n = torch.bincount(idx, minlength=len(self.codes))
        total = torch.zeros_like(self.codes).index_add_(0, idx, x)
        alive = n > 0
        self.codes[alive] = total[alive] / n[alive, None]
        return err, n

    def decode(self, idx):
        return self.codes[idx]


book = Codebook(patches, K)
for it in range(30):
    err, n = book.refine(patches)
    if it % 10 == 9:
        p = n / n.sum()
        perplexity = torch.exp(-(p * (p + 1e-9).log()).sum()).item()
        print(f"iter {it:2d}  error {err.item():.3f}  used codes {int((n > 0).sum())}  perplexity {perplexity:.2f}")

# a small network predicting the code of a patch from its noisy version
_, idx = book.assign(patches)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, K))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    for b in torch.randperm(len(patches)).split(256):
        loss = F.cross_entropy(net(patches[b] + 0.3 * torch.randn(len(b), 64)), idx[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    pred = net(patches).argmax(1)
    mse = F.mse_loss(book.decode(pred), patches).item()
print(f"agreement {(pred == idx).float().mean().item():.2f}  reconstruction mse {mse:.3f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
torch.set_num_threads(1)

# patches of synthetic landscapes, quantised with a learnt codebook
N, SIDE, K = 24, 240, 48
yy, xx = torch.meshgrid(torch.linspace(0, 6.28, SIDE), torch.linspace(0, 6.28, SIDE), indexing="ij")
f = torch.randint(1, 7, (N, 6, 2)).float()
ph = 6.28 * torch.rand(N, 6)
pics = sum(torch.sin(f[:, k, :1, None] * xx + f[:, k, 1:, None] * yy + ph[:, k, None, None]) / (k + 1) for k in range(6))
pics = pics + 0.15 * torch.randn_like(pics)
patches = F.unfold(pics[:, None], 8, stride=8).transpose(1, 2).reshape(-1, 64).contiguous()
patches = patches - patches.mean(1, keepdim=True)


class Codebook:
    def __init__(self, data, k):
        self.codes = data[torch.randperm(len(data))[:k]].clone()

    def distances(self, x):
        return torch.cdist(x, self.codes).pow(2)

    def assign(self, x):
        d = self.distances(x)
        best, idx = d.min(1)
        return best.mean(), idx

    def refine(self, x):
        err, idx = self.assign(x)
        n = torch.bincount(idx, minlength=len(self.codes))
        total = torch.zeros_like(self.codes).index_add_(0, idx, x)
        alive = n > 0
        self.codes[alive] = total[alive] / n[alive, None]
        return err, n

    def decode(self, idx):
        return self.codes[idx]


book = Codebook(patches, K)
for it in range(30):
    err, n = book.refine(patches)
    if it % 10 == 9:
        p = n / n.sum()
        perplexity = torch.exp(-(p * (p + 1e-9).log()).sum()).item()
        print(f"iter {it:2d}  error {err.item():.3f}  used codes {int((n > 0).sum())}  perplexity {perplexity:.2f}")

# a small network predicting the code of a patch from its noisy version
_, idx = book.assign(patches)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, K))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    for b in torch.randperm(len(patches)).split(256):
        loss = F.cross_entropy(net(patches[b] + 0.3 * torch.randn(len(b), 64)), idx[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    pred = net(patches).argmax(1)
    mse = F.mse_loss(book.decode(pred), patches).item()
print(f"agreement {(pred == idx).float().mean().item():.2f}  reconstruction mse {mse:.3f}")
"""
