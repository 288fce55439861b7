NAME = 'Segments two satellite scenes tile by tile and reports IoU and F1 for each land-cover class.'
FAULT = 'The metric expands prediction and truth of the whole map into one-hot float64 tables (10 x 8 bytes per pixel, three times with the product).'
CURE = 'Count the confusion matrix with np.bincount(truth * k + pred, minlength=k*k) and take intersections and sums from it.'
KIND = 'memory'
FAULT_LINES = ['p = np.eye(k)[pred.ravel()]', 't = np.eye(k)[truth.ravel()]', 'both = (p * t).sum(0)']
FAULT_CALLS = ['eye', '__getitem__', 'map_report', 'sum', 'multiply']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
CLASSES = ["water", "forest", "crop", "grass", "built", "bare", "snow", "wetland", "road", "cloud"]


class PixelNet(nn.Module):
    def __init__(self, bands=4, k=len(CLASSES)):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(bands, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
                                 nn.ReLU(), nn.Conv2d(16, k, 1))

    def forward(self, x):
        return self.net(x)


def scene(size, signature):
    '''Blocky land-cover map and its four spectral bands.'''
    coarse = rng.integers(0, len(CLASSES), (size // 32, size // 32), dtype=np.uint8)
    truth = coarse.repeat(32, 0).repeat(32, 1)
    bands = signature[truth].transpose(2, 0, 1)
    bands = bands + 0.5 * rng.standard_normal(bands.shape, dtype=np.float32)
    return torch.from_numpy(bands), torch.from_numpy(truth)


def train(net, signature, steps=60):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(steps):
        x, y = scene(128, signature)
        loss = nn.functional.cross_entropy(net(x[None]), y[None].long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


@torch.no_grad()
def predict_map(net, bands, tile=256):
    out = torch.empty(bands.shape[1:], dtype=torch.uint8)
    for r in range(0, bands.shape[1], tile):
        for c in range(0, bands.shape[2], tile):
            patch = bands[None, :, r:r + tile, c:c + tile]
            out[r:r + tile, c:c + tile] = net(patch).argmax(1)[0].to(torch.uint8)
    return out.numpy()


def map_report(pred, truth, k=len(CLASSES)):
    '''Intersection over union and F1 for each class of the whole map.'''
    p = np.eye(k)[pred.ravel()]
    t = np.eye(k)[truth.ravel()]
    both = (p * t).sum(0)
    n_pred, n_true = p.sum(0), t.sum(0)
    return both / (n_pred + n_true - both), 2 * both / (n_pred + n_true)


signature = rng.normal(0, 1.0, (len(CLASSES), 4)).astype(np.float32)
net = PixelNet()
print(f"train loss {train(net, signature):.3f}")
for region in ("north", "south"):
    bands, truth = scene(1920, signature)
    pred = predict_map(net, bands)
    iou, f1 = map_report(pred, truth.numpy())
    print(region, f"mean iou {iou.mean():.3f}")
    for name, a, b in zip(CLASSES, iou, f1):
        print(f"  {name:8s} {a:.3f} {b:.3f}")
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
CLASSES = ["water", "forest", "crop", "grass", "built", "bare", "snow", "wetland", "road", "cloud"]


class PixelNet(nn.Module):
    def __init__(self, bands=4, k=len(CLASSES)):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(bands, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
                                 nn.ReLU(), nn.Conv2d(16, k, 1))

    def forward(self, x):
        return self.net(x)


def scene(size, signature):
    '''Blocky land-cover map and its four spectral bands.'''
    coarse = rng.integers(0, len(CLASSES), (size // 32, size // 32), dtype=np.uint8)
    truth = coarse.repeat(32, 0).repeat(32, 1)
    bands = signature[truth].transpose(2, 0, 1)
    bands = bands + 0.5 * rng.standard_normal(bands.shape, dtype=np.float32)
    return torch.from_numpy(bands), torch.from_numpy(truth)


def train(net, signature, steps=60):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(steps):
        x, y = scene(128, signature)
        loss = nn.functional.cross_entropy(net(x[None]), y[None].long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


@torch.no_grad()
def predict_map(net, bands, tile=256):
    out = torch.empty(bands.shape[1:], dtype=torch.uint8)
    for r in range(0, bands.shape[1], tile):
        for c in range(0, bands.shape[2], tile):
            patch = bands[None, :, r:r + tile, c:c + tile]
            out[r:r + tile, c:c + tile] = net(patch).argmax(1)[0].to(torch.uint8)
    return out.numpy()


def map_report(pred, truth, k=len(CLASSES)):
    '''Intersection over union and F1 for each class of the whole map.'''
    table = np.bincount(truth.ravel() * np.uint8(k) + pred.ravel(), minlength=k * k).reshape(k, k).astype(float)
    both = np.diagonal(table)
    n_pred, n_true = table.sum(0), table.sum(1)
    return both / (n_pred + n_true - both), 2 * both / (n_pred + n_true)


signature = rng.normal(0, 1.0, (len(CLASSES), 4)).astype(np.float32)
net = PixelNet()
print(f"train loss {train(net, signature):.3f}")
for region in ("north", "south"):
    bands, truth = scene(1920, signature)
    pred = predict_map(net, bands)
    iou, f1 = map_report(pred, truth.numpy())
    print(region, f"mean iou {iou.mean():.3f}")
    for name, a, b in zip(CLASSES, iou, f1):
        print(f"  {name:8s} {a:.3f} {b:.3f}")
"""
