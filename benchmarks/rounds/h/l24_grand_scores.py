NAME = 'Data pruning by GraNd scores (per-example gradient norms) on a noisy-label problem.'
FAULT = 'The full gradients of all 2000 examples are materialised at once only to take their norms.'
CURE = 'Compute the norms chunk by chunk (e.g. 100 examples at a time).'
KIND = 'memory'
FAULT_LINES = [
    'return norms(x, labels)',
    'g = per_example(params, xb, yb)',
    'per_example = vmap(grad(loss_one), in_dims=(None, 0, 0))',
    'scores += grand_scores(net, X, y)',
]
FAULT_CALLS = ['vmap', 'per_example', 'norms', 'grand_scores', 'grad', 'torch.func.vmap', 'aten::bmm', 'aten::mm', 'aten::mul', 'wrapped']
FAULTY = r"""
# data pruning: GraNd scores (norm of every example's own gradient) early in training
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap

torch.set_num_threads(1)
torch.manual_seed(55)
np.random.seed(55)

N, D, CLASSES = 2000, 60, 10
FLIPPED = 0.08
KEEP = 0.6

centres = torch.randn(CLASSES, D) * 0.45
true_y = torch.randint(0, CLASSES, (N,))
X = centres[true_y] + torch.randn(N, D)
flip = torch.rand(N) < FLIPPED
y = torch.where(flip, torch.randint(0, CLASSES, (N,)), true_y)

test_y = torch.randint(0, CLASSES, (2000,))
test_X = centres[test_y] + torch.randn(2000, D)


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(D, 256), nn.ReLU(),
                         nn.Linear(256, 256), nn.ReLU(),
                         nn.Linear(256, CLASSES))


def train(net, x, labels, epochs, lr=0.05):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(net(x[idx]), labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


def accuracy(net):
    with torch.no_grad():
        return (net(test_X).argmax(1) == test_y).float().mean().item()


def grand_scores(net, x, labels):
    params = {k: v.detach() for k, v in net.named_parameters()}

    def loss_one(p, xi, yi):
        out = functional_call(net, p, (xi.unsqueeze(0),))
        return F.cross_entropy(out, yi.unsqueeze(0))

    per_example = vmap(grad(loss_one), in_dims=(None, 0, 0))

    def norms(xb, yb):
        g = per_example(params, xb, yb)
        sq = sum(torch.linalg.vector_norm(v.flatten(1), dim=1) ** 2 for v in g.values())
        return sq.sqrt()

    return norms(x, labels)


scores = torch.zeros(N)
SEEDS = (0, 1, 2, 3, 4, 5)
for seed in SEEDS:
    net = build(seed)
    for stage in range(3):
        train(net, X, y, epochs=2)
        scores += grand_scores(net, X, y)
scores /= 3 * len(SEEDS)

# hardest examples should hold most of the flipped labels
ranked = scores.argsort(descending=True)
top = ranked[:int(FLIPPED * N)]
kept = ranked[-int(KEEP * N):]
full = train(build(100), X, y, epochs=12)
pruned = train(build(100), X[kept], y[kept], epochs=20)
print(f'flipped among hardest {FLIPPED:.0%}: {flip[top].float().mean():.3f}')
print(f'test accuracy all {accuracy(full):.3f}, kept {KEEP:.0%} easiest {accuracy(pruned):.3f}')
"""
CURED = r"""
# data pruning: GraNd scores (norm of every example's own gradient) early in training
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap

torch.set_num_threads(1)
torch.manual_seed(55)
np.random.seed(55)

N, D, CLASSES = 2000, 60, 10
FLIPPED = 0.08
KEEP = 0.6

centres = torch.randn(CLASSES, D) * 0.45
true_y = torch.randint(0, CLASSES, (N,))
X = centres[true_y] + torch.randn(N, D)
flip = torch.rand(N) < FLIPPED
y = torch.where(flip, torch.randint(0, CLASSES, (N,)), true_y)

test_y = torch.randint(0, CLASSES, (2000,))
test_X = centres[test_y] + torch.randn(2000, D)


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(D, 256), nn.ReLU(),
                         nn.Linear(256, 256), nn.ReLU(),
                         nn.Linear(256, CLASSES))


def train(net, x, labels, epochs, lr=0.05):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(net(x[idx]), labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net


def accuracy(net):
    with torch.no_grad():
        return (net(test_X).argmax(1) == test_y).float().mean().item()


def grand_scores(net, x, labels):
    params = {k: v.detach() for k, v in net.named_parameters()}

    def loss_one(p, xi, yi):
        out = functional_call(net, p, (xi.unsqueeze(0),))
        return F.cross_entropy(out, yi.unsqueeze(0))

    per_example = vmap(grad(loss_one), in_dims=(None, 0, 0))

    def norms(xb, yb):
        g = per_example(params, xb, yb)
        sq = sum(torch.linalg.vector_norm(v.flatten(1), dim=1) ** 2 for v in g.values())
        return sq.sqrt()

    return torch.cat([norms(xb, yb) for xb, yb in zip(x.split(100), labels.split(100))])


scores = torch.zeros(N)
SEEDS = (0, 1, 2, 3, 4, 5)
for seed in SEEDS:
    net = build(seed)
    for stage in range(3):
        train(net, X, y, epochs=2)
        scores += grand_scores(net, X, y)
scores /= 3 * len(SEEDS)

# hardest examples should hold most of the flipped labels
ranked = scores.argsort(descending=True)
top = ranked[:int(FLIPPED * N)]
kept = ranked[-int(KEEP * N):]
full = train(build(100), X, y, epochs=12)
pruned = train(build(100), X[kept], y[kept], epochs=20)
print(f'flipped among hardest {FLIPPED:.0%}: {flip[top].float().mean():.3f}')
print(f'test accuracy all {accuracy(full):.3f}, kept {KEEP:.0%} easiest {accuracy(pruned):.3f}')
"""
