NAME = 'e14_mmd_report'

FAULT = 'Pairwise squared distances are formed by broadcasting to an n x m x d tensor of differences, which is far larger than the n x m result.'

CURE = 'Use torch.cdist (or the expanded square), which never builds the three-dimensional tensor.'

KIND = 'memory'

FAULT_LINES = [
    '    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)',
]

FAULT_CALLS = [
    'sq_dist',
    'aten::sub',
    'aten::pow',
    'aten::sum',
]

FAULTY = r'''
import torch
from torch import nn

torch.manual_seed(53)
torch.set_num_threads(1)

# Compare three image generators with the real set in feature space: kernel MMD,
# and precision / recall of the manifolds (k-nearest-neighbour balls).
N, SIDE = 1080, 16

features = nn.Sequential(
    nn.Conv2d(1, 24, 3, 2, 1), nn.ReLU(),
    nn.Conv2d(24, 48, 3, 2, 1), nn.ReLU(),
    nn.Flatten(), nn.Linear(48 * 16, 112)).eval()


def real_images(n):
    g = torch.linspace(-1, 1, SIDE)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    cx, cy, r = (torch.rand(3, n, 1, 1) - 0.5)
    return torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (0.05 + 0.2 * r.abs()))[:, None]


GENERATORS = {
    "noisy": lambda n: real_images(n) + 0.25 * torch.randn(n, 1, SIDE, SIDE),
    "collapsed": lambda n: real_images(40).repeat(n // 40, 1, 1, 1) + 0.02 * torch.randn(n, 1, SIDE, SIDE),
    "dim": lambda n: 0.7 * real_images(n),
}


def sq_dist(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)


def mmd(dxx, dyy, dxy):
    total = 0.0
    scale = dxy.median()
    for mult in (0.25, 1.0, 4.0):
        k = lambda d: torch.exp(-d / (mult * scale))
        n = len(dxx)
        within = (k(dxx).sum() - n + k(dyy).sum() - n) / (n * (n - 1))
        total += (within - 2 * k(dxy).mean()).item()
    return total


def coverage(d_own, d_cross, k=5):
    """Share of columns of d_cross that lie inside a k-NN ball of a row point."""
    radius = d_own.kthvalue(k + 1, dim=1).values
    return (d_cross <= radius[:, None]).any(0).float().mean().item()


with torch.inference_mode():
    real = features(real_images(N))
    d_rr = sq_dist(real, real)
    for name, generate in GENERATORS.items():
        scores = []
        for rep in range(2):
            fake = features(generate(N))
            d_ff = sq_dist(fake, fake)
            d_rf = sq_dist(real, fake)
            scores.append((mmd(d_rr, d_ff, d_rf), coverage(d_rr, d_rf), coverage(d_ff, d_rf.T)))
        m, p, r = torch.tensor(scores).mean(0).tolist()
        print(f"{name:10s} MMD {m:.5f}  precision {p:.3f}  recall {r:.3f}")
'''

CURED = r'''
import torch
from torch import nn

torch.manual_seed(53)
torch.set_num_threads(1)

# Compare three image generators with the real set in feature space: kernel MMD,
# and precision / recall of the manifolds (k-nearest-neighbour balls).
N, SIDE = 1080, 16

features = nn.Sequential(
    nn.Conv2d(1, 24, 3, 2, 1), nn.ReLU(),
    nn.Conv2d(24, 48, 3, 2, 1), nn.ReLU(),
    nn.Flatten(), nn.Linear(48 * 16, 112)).eval()


def real_images(n):
    g = torch.linspace(-1, 1, SIDE)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    cx, cy, r = (torch.rand(3, n, 1, 1) - 0.5)
    return torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (0.05 + 0.2 * r.abs()))[:, None]


GENERATORS = {
    "noisy": lambda n: real_images(n) + 0.25 * torch.randn(n, 1, SIDE, SIDE),
    "collapsed": lambda n: real_images(40).repeat(n // 40, 1, 1, 1) + 0.02 * torch.randn(n, 1, SIDE, SIDE),
    "dim": lambda n: 0.7 * real_images(n),
}


def sq_dist(a, b):
    return torch.cdist(a, b).square()


def mmd(dxx, dyy, dxy):
    total = 0.0
    scale = dxy.median()
    for mult in (0.25, 1.0, 4.0):
        k = lambda d: torch.exp(-d / (mult * scale))
        n = len(dxx)
        within = (k(dxx).sum() - n + k(dyy).sum() - n) / (n * (n - 1))
        total += (within - 2 * k(dxy).mean()).item()
    return total


def coverage(d_own, d_cross, k=5):
    """Share of columns of d_cross that lie inside a k-NN ball of a row point."""
    radius = d_own.kthvalue(k + 1, dim=1).values
    return (d_cross <= radius[:, None]).any(0).float().mean().item()


with torch.inference_mode():
    real = features(real_images(N))
    d_rr = sq_dist(real, real)
    for name, generate in GENERATORS.items():
        scores = []
        for rep in range(2):
            fake = features(generate(N))
            d_ff = sq_dist(fake, fake)
            d_rf = sq_dist(real, fake)
            scores.append((mmd(d_rr, d_ff, d_rf), coverage(d_rr, d_rf), coverage(d_ff, d_rf.T)))
        m, p, r = torch.tensor(scores).mean(0).tolist()
        print(f"{name:10s} MMD {m:.5f}  precision {p:.3f}  recall {r:.3f}")
'''
