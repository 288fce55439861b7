NAME = 'g15_flow_mmd'
FAULT = 'The squared distances for the MMD are formed by broadcasting all differences into an n x m x d tensor and squaring it.'
CURE = 'Get the n x m distances with torch.cdist, without the n x m x d intermediate.'
KIND = 'memory'
FAULT_LINES = [
    '    d2 = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)',
]
FAULT_CALLS = ['aten::sub', 'aten::pow', 'torch.Tensor.pow', 'kernel_mean', 'torch.Tensor.__sub__']

FAULTY = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
D = 16

# target: a bent mixture in 16 dimensions
centres = 2.5 * torch.randn(5, D)
def target(n):
    x = centres[torch.randint(5, (n,))] + 0.5 * torch.randn(n, D)
    x[:, 1] += 0.3 * x[:, 0] ** 2
    return x


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(D // 2, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, D))

    def forward(self, x):                       # data -> noise
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.sum(1)

    def inverse(self, z):
        a, b = z.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        b = (b - t) * (-torch.tanh(s)).exp()
        return torch.cat([b, a] if self.flip else [a, b], 1)


flow = nn.ModuleList(Coupling(i % 2 == 1) for i in range(6))
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)


def nll(x):
    logdet = 0
    for layer in flow:
        x, ld = layer(x)
        logdet = logdet + ld
    return (0.5 * x.pow(2).sum(1) + 0.5 * D * math.log(2 * math.pi) - logdet).mean()


@torch.no_grad()
def sample(n):
    z = torch.randn(n, D)
    for layer in reversed(flow):
        z = layer.inverse(z)
    return z


def kernel_mean(a, b):
    d2 = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)
    return sum(torch.exp(-d2 / (2 * h * h)).mean() for h in (1.0, 2.0, 4.0)) / 3


ref = target(2500)
ref_term = kernel_mean(ref, ref)
for it in range(1, 701):
    loss = nll(target(256))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 175 == 0:
        g = sample(2500)
        mmd2 = kernel_mean(g, g) + ref_term - 2 * kernel_mean(g, ref)
        print(f"{it}: nll {loss.item():.3f}  mmd2 {mmd2.item():.5f}")
'''

CURED = r'''
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
D = 16

# target: a bent mixture in 16 dimensions
centres = 2.5 * torch.randn(5, D)
def target(n):
    x = centres[torch.randint(5, (n,))] + 0.5 * torch.randn(n, D)
    x[:, 1] += 0.3 * x[:, 0] ** 2
    return x


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(D // 2, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, D))

    def forward(self, x):                       # data -> noise
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.sum(1)

    def inverse(self, z):
        a, b = z.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        b = (b - t) * (-torch.tanh(s)).exp()
        return torch.cat([b, a] if self.flip else [a, b], 1)


flow = nn.ModuleList(Coupling(i % 2 == 1) for i in range(6))
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)


def nll(x):
    logdet = 0
    for layer in flow:
        x, ld = layer(x)
        logdet = logdet + ld
    return (0.5 * x.pow(2).sum(1) + 0.5 * D * math.log(2 * math.pi) - logdet).mean()


@torch.no_grad()
def sample(n):
    z = torch.randn(n, D)
    for layer in reversed(flow):
        z = layer.inverse(z)
    return z


def kernel_mean(a, b):
    d2 = torch.cdist(a, b).pow(2)
    return sum(torch.exp(-d2 / (2 * h * h)).mean() for h in (1.0, 2.0, 4.0)) / 3


ref = target(2500)
ref_term = kernel_mean(ref, ref)
for it in range(1, 701):
    loss = nll(target(256))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 175 == 0:
        g = sample(2500)
        mmd2 = kernel_mean(g, g) + ref_term - 2 * kernel_mean(g, ref)
        print(f"{it}: nll {loss.item():.3f}  mmd2 {mmd2.item():.5f}")
'''
