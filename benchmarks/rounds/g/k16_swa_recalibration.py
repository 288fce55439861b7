NAME = 'Weight averaging with recalibrated batch-norm statistics'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'A pass over the training set in train mode whose outputs are thrown away looks like dead work, but it renews the batch-norm statistics of the averaged weights.'
GOOD = r"""import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(43)


def glyphs(n, size=16):
    # bars, crosses, rings and dots with different contrast
    label = torch.randint(0, 4, (n,))
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cy, cx = torch.rand(2, n, 1, 1) * 6 + 5
    dy, dx = (yy - cy).abs(), (xx - cx).abs()
    r = (dy ** 2 + dx ** 2).sqrt()
    shapes = torch.stack([
        (dy < 1.0) & (dx < 4.5), ((dy < 1.0) | (dx < 1.0)) & (r < 4.5),
        (r - 3.5).abs() < 0.9, r < 2.4,
    ], 1)
    img = shapes[torch.arange(n), label].float()
    contrast = 0.6 + torch.rand(n, 1, 1)
    return (contrast * img + 0.45 * torch.randn(n, size, size)).unsqueeze(1), label


x_tr, y_tr = glyphs(3000)
x_te, y_te = glyphs(1000)


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))


net = nn.Sequential(block(1, 12), block(12, 24), block(24, 24), nn.Flatten(), nn.Linear(96, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9, nesterov=True)
averaged, n_avg = copy.deepcopy(net), 0


@torch.no_grad()
def accuracy(model):
    model.eval()
    return sum((model(a).argmax(1) == b).sum().item() for a, b in zip(x_te.split(250), y_te.split(250))) / len(x_te)


@torch.no_grad()
def update_average(avg, model, k):
    for p, q in zip(avg.parameters(), model.parameters()):
        p.lerp_(q, 1.0 / (k + 1))


@torch.no_grad()
def refresh_statistics(model):
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.reset_running_stats()
            m.momentum = None
    model.train()
    for idx in torch.randperm(len(x_tr))[:1500].split(250):
        model(x_tr[idx])


for epoch in range(11):
    net.train()
    for idx in torch.randperm(len(x_tr)).split(50):
        loss = F.cross_entropy(net(x_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch >= 2:
        update_average(averaged, net, n_avg)
        n_avg += 1
        refresh_statistics(averaged)
        print(f"epoch {epoch + 1}: last iterate {accuracy(net):.3f}  average of {n_avg}: {accuracy(averaged):.3f}")
"""
