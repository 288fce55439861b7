NAME = 'Pre-trains a small texture classifier and then trains a new head on another task with augmentation.'
FAULT = 'In the second phase the optimiser holds only the head, but the backbone still requires gradients, so they are computed through all convolutions and never used.'
CURE = 'Switch off requires_grad of the backbone before the second phase.'
KIND = 'time'
FAULT_LINES = [
    'run(model, model.head.parameters(), xf, yf, 6, 5e-3, "new head")',
    'loss.backward()',
    'model.head = nn.Linear(64, 5)',
]
FAULT_CALLS = ['backward', 'ConvolutionBackward0', 'convolution_backward']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
torch.set_num_threads(1)


def textures(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    a = (y.float() * 3.1416 / classes)[:, None, None]
    yy, xx = torch.meshgrid(torch.arange(40.), torch.arange(40.), indexing="ij")
    ph = 6.28 * torch.rand(n, 1, 1, generator=g)
    img = torch.sin(0.9 * (xx * a.cos() + yy * a.sin()) + ph) + 0.8 * torch.randn(n, 40, 40, generator=g)
    return img[:, None], y


def augment(x):
    i, j = torch.randint(0, 9, (2,)).tolist()
    x = x[:, :, i:i + 32, j:j + 32]
    return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.1 * torch.randn_like(x)


class Backbone(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(2 * c, 2 * c, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )

    def forward(self, x):
        return self.net(x)


class Classifier(nn.Module):
    def __init__(self, backbone, n):
        super().__init__()
        self.backbone, self.head = backbone, nn.Linear(64, n)

    def forward(self, x):
        return self.head(self.backbone(x))


def run(model, params, x, y, epochs, lr, tag):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(augment(x[idx])), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"{tag} epoch {epoch} loss {total / len(x):.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x[:, :, 4:36, 4:36]).argmax(1) == y).float().mean().item()


# pre-training on 8 orientations, then a new head for 5
xp, yp = textures(640, 8, 1)
model = Classifier(Backbone(), 8)
run(model, model.parameters(), xp, yp, 2, 2e-3, "pretrain")

xf, yf = textures(1000, 5, 2)
xt, yt = textures(400, 5, 3)
model.head = nn.Linear(64, 5)
run(model, model.head.parameters(), xf, yf, 6, 5e-3, "new head")
print("test accuracy", round(accuracy(model, xt, yt), 3))
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
torch.set_num_threads(1)


def textures(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    a = (y.float() * 3.1416 / classes)[:, None, None]
    yy, xx = torch.meshgrid(torch.arange(40.), torch.arange(40.), indexing="ij")
    ph = 6.28 * torch.rand(n, 1, 1, generator=g)
    img = torch.sin(0.9 * (xx * a.cos() + yy * a.sin()) + ph) + 0.8 * torch.randn(n, 40, 40, generator=g)
    return img[:, None], y


def augment(x):
    i, j = torch.randint(0, 9, (2,)).tolist()
    x = x[:, :, i:i + 32, j:j + 32]
    return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.1 * torch.randn_like(x)


class Backbone(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(2 * c, 2 * c, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )

    def forward(self, x):
        return self.net(x)


class Classifier(nn.Module):
    def __init__(self, backbone, n):
        super().__init__()
        self.backbone, self.head = backbone, nn.Linear(64, n)

    def forward(self, x):
        return self.head(self.backbone(x))


def run(model, params, x, y, epochs, lr, tag):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(augment(x[idx])), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"{tag} epoch {epoch} loss {total / len(x):.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x[:, :, 4:36, 4:36]).argmax(1) == y).float().mean().item()


# pre-training on 8 orientations, then a new head for 5
xp, yp = textures(640, 8, 1)
model = Classifier(Backbone(), 8)
run(model, model.parameters(), xp, yp, 2, 2e-3, "pretrain")

xf, yf = textures(1000, 5, 2)
xt, yt = textures(400, 5, 3)
model.head = nn.Linear(64, 5)
model.backbone.requires_grad_(False)
run(model, model.head.parameters(), xf, yf, 6, 5e-3, "new head")
print("test accuracy", round(accuracy(model, xt, yt), 3))
"""
