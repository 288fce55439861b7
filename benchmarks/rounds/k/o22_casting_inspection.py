NAME = 'Fits a Gaussian of patch features per grid position on good castings and scores trays of six images for defects.'
FAULT = 'The 256 fixed covariance matrices are inverted again for each tray in anomaly_map.'
CURE = 'Invert the covariances once at the end of fit.'
KIND = 'time'
FAULT_LINES = ['precision = torch.linalg.inv(self.cov)', 'heat = model.anomaly_map(images)']
FAULT_CALLS = ['inv', 'anomaly_map']
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
GRID, DIM = 16, 88


class PatchFeatures(nn.Module):
    '''Frozen random backbone: two scales of a 128x128 image on a common grid.'''

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 40, 7, stride=4, padding=3)
        self.b = nn.Conv2d(40, 80, 3, stride=2, padding=1)
        self.pick = torch.randperm(120)[:DIM]

    @torch.no_grad()
    def forward(self, x):
        a = torch.relu(self.a(x))
        b = torch.relu(self.b(a))
        a = nn.functional.avg_pool2d(a, 2)
        return torch.cat([a, b], 1)[:, self.pick].flatten(2).transpose(1, 2)


class PatchGaussians:
    '''One Gaussian of normal appearance for each of the grid positions.'''

    def __init__(self, backbone, shrink=0.01):
        self.backbone, self.shrink = backbone, shrink

    def fit(self, loader):
        feats = torch.cat([self.backbone(x) for x in loader]).double()
        self.mean = feats.mean(0)
        centred = feats - self.mean
        cov = torch.einsum("npi,npj->pij", centred, centred) / (len(feats) - 1)
        self.cov = cov + self.shrink * torch.eye(DIM, dtype=torch.float64)
        return self

    def anomaly_map(self, x):
        delta = self.backbone(x).double() - self.mean
        precision = torch.linalg.inv(self.cov)
        dist = torch.einsum("npi,pij,npj->np", delta, precision, delta)
        return dist.clamp(min=0).sqrt().view(-1, GRID, GRID)


def castings(n, broken=0.0):
    yy, xx = torch.meshgrid(torch.arange(128.0), torch.arange(128.0), indexing="ij")
    ring = ((xx - 64) ** 2 + (yy - 64) ** 2).sqrt()
    base = torch.exp(-((ring - 40) / 8) ** 2)
    x = base * (1 + 0.1 * torch.randn(n, 1, 1)) + 0.2 * torch.randn(n, 128, 128)
    bad = torch.rand(n) < broken
    for i in bad.nonzero().flatten().tolist():
        r, c = torch.randint(24, 96, (2,)).tolist()
        x[i, r:r + 9, c:c + 9] -= 1.0
    return x[:, None], bad


def auc(score, flag):
    rank = score.argsort().argsort().double() + 1
    p, n = flag.sum(), (~flag).sum()
    return ((rank[flag].sum() - p * (p + 1) / 2) / (p * n)).item()


model = PatchGaussians(PatchFeatures()).fit([castings(32)[0] for _ in range(10)])
scores, flags = [], []
for tray in range(260):
    images, bad = castings(6, broken=0.3)
    heat = model.anomaly_map(images)
    scores.append(heat.flatten(1).topk(3).values.mean(1))
    flags.append(bad)
scores, flags = torch.cat(scores), torch.cat(flags)
print(f"images {len(scores)} broken {int(flags.sum())} mean score {scores.mean():.3f}")
print(f"auc {auc(scores, flags):.3f}")
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)
GRID, DIM = 16, 88


class PatchFeatures(nn.Module):
    '''Frozen random backbone: two scales of a 128x128 image on a common grid.'''

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 40, 7, stride=4, padding=3)
        self.b = nn.Conv2d(40, 80, 3, stride=2, padding=1)
        self.pick = torch.randperm(120)[:DIM]

    @torch.no_grad()
    def forward(self, x):
        a = torch.relu(self.a(x))
        b = torch.relu(self.b(a))
        a = nn.functional.avg_pool2d(a, 2)
        return torch.cat([a, b], 1)[:, self.pick].flatten(2).transpose(1, 2)


class PatchGaussians:
    '''One Gaussian of normal appearance for each of the grid positions.'''

    def __init__(self, backbone, shrink=0.01):
        self.backbone, self.shrink = backbone, shrink

    def fit(self, loader):
        feats = torch.cat([self.backbone(x) for x in loader]).double()
        self.mean = feats.mean(0)
        centred = feats - self.mean
        cov = torch.einsum("npi,npj->pij", centred, centred) / (len(feats) - 1)
        self.precision = torch.linalg.inv(cov + self.shrink * torch.eye(DIM, dtype=torch.float64))
        return self

    def anomaly_map(self, x):
        delta = self.backbone(x).double() - self.mean
        dist = torch.einsum("npi,pij,npj->np", delta, self.precision, delta)
        return dist.clamp(min=0).sqrt().view(-1, GRID, GRID)


def castings(n, broken=0.0):
    yy, xx = torch.meshgrid(torch.arange(128.0), torch.arange(128.0), indexing="ij")
    ring = ((xx - 64) ** 2 + (yy - 64) ** 2).sqrt()
    base = torch.exp(-((ring - 40) / 8) ** 2)
    x = base * (1 + 0.1 * torch.randn(n, 1, 1)) + 0.2 * torch.randn(n, 128, 128)
    bad = torch.rand(n) < broken
    for i in bad.nonzero().flatten().tolist():
        r, c = torch.randint(24, 96, (2,)).tolist()
        x[i, r:r + 9, c:c + 9] -= 1.0
    return x[:, None], bad


def auc(score, flag):
    rank = score.argsort().argsort().double() + 1
    p, n = flag.sum(), (~flag).sum()
    return ((rank[flag].sum() - p * (p + 1) / 2) / (p * n)).item()


model = PatchGaussians(PatchFeatures()).fit([castings(32)[0] for _ in range(10)])
scores, flags = [], []
for tray in range(260):
    images, bad = castings(6, broken=0.3)
    heat = model.anomaly_map(images)
    scores.append(heat.flatten(1).topk(3).values.mean(1))
    flags.append(bad)
scores, flags = torch.cat(scores), torch.cat(flags)
print(f"images {len(scores)} broken {int(flags.sum())} mean score {scores.mean():.3f}")
print(f"auc {auc(scores, flags):.3f}")
"""
