NAME = 'Trains a lesion classifier and estimates its uncertainty on test pictures by Monte Carlo dropout.'
FAULT = 'All stochastic passes run the whole network, though dropout sits only in the head and the convolutional features are the same every time.'
CURE = 'Compute the features once per batch and repeat only the head.'
KIND = 'time'
FAULT_LINES = [
    'draws = torch.stack([model(xb).softmax(-1) for _ in range(passes)])',
]
FAULT_CALLS = ['mc_predict', 'forward', 'model', 'conv2d', 'Conv2d', '<listcomp>', 'max_pool2d', 'relu']
FAULTY = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)


def lesions(n, side=48):
    yy, xx = torch.meshgrid(torch.arange(side), torch.arange(side), indexing='ij')
    y = torch.randint(0, 3, (n,))
    c = side / 2 + 4 * torch.randn(n, 2)
    r2 = (yy - c[:, 0, None, None]) ** 2 + ((1 + 0.4 * y[:, None, None]) * (xx - c[:, 1, None, None])) ** 2
    blob = torch.exp(-r2 / (60 + 20 * torch.rand(n, 1, 1)))
    x = torch.stack([0.8 - 0.5 * blob, 0.6 - 0.4 * blob, 0.5 - 0.3 * blob], 1)
    x[:, 2] += 0.25 * y[:, None, None] * blob
    return 3 * (x - 0.6) + 1.3 * torch.randn(n, 3, side, side), y


class LesionNet(nn.Module):
    def __init__(self, n_class=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(432, 128), nn.ReLU(), nn.Dropout(0.4), nn.Linear(128, n_class))

    def forward(self, x):
        return self.head(self.features(x))


@torch.no_grad()
def mc_predict(model, x, passes=30, bs=50):
    model.train()
    mean, spread = [], []
    for xb in x.split(bs):
        draws = torch.stack([model(xb).softmax(-1) for _ in range(passes)])
        mean.append(draws.mean(0))
        spread.append(draws.std(0).mean(-1))
    return torch.cat(mean), torch.cat(spread)


xtr, ytr = lesions(600)
xte, yte = lesions(300)
model = LesionNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for idx in torch.randperm(len(xtr)).split(40):
        loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print('epoch', epoch, 'loss', round(loss.item(), 3))

p, s = mc_predict(model, xte)
right = p.argmax(1) == yte
print(f'accuracy {right.float().mean():.3f}')
print(f'spread when right {s[right].mean():.4f}, when wrong {s[~right].mean():.4f}')
"""
CURED = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(13)


def lesions(n, side=48):
    yy, xx = torch.meshgrid(torch.arange(side), torch.arange(side), indexing='ij')
    y = torch.randint(0, 3, (n,))
    c = side / 2 + 4 * torch.randn(n, 2)
    r2 = (yy - c[:, 0, None, None]) ** 2 + ((1 + 0.4 * y[:, None, None]) * (xx - c[:, 1, None, None])) ** 2
    blob = torch.exp(-r2 / (60 + 20 * torch.rand(n, 1, 1)))
    x = torch.stack([0.8 - 0.5 * blob, 0.6 - 0.4 * blob, 0.5 - 0.3 * blob], 1)
    x[:, 2] += 0.25 * y[:, None, None] * blob
    return 3 * (x - 0.6) + 1.3 * torch.randn(n, 3, side, side), y


class LesionNet(nn.Module):
    def __init__(self, n_class=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(432, 128), nn.ReLU(), nn.Dropout(0.4), nn.Linear(128, n_class))

    def forward(self, x):
        return self.head(self.features(x))


@torch.no_grad()
def mc_predict(model, x, passes=30, bs=50):
    model.train()
    mean, spread = [], []
    for xb in x.split(bs):
        feats = model.features(xb)
        draws = torch.stack([model.head(feats).softmax(-1) for _ in range(passes)])
        mean.append(draws.mean(0))
        spread.append(draws.std(0).mean(-1))
    return torch.cat(mean), torch.cat(spread)


xtr, ytr = lesions(600)
xte, yte = lesions(300)
model = LesionNet()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for idx in torch.randperm(len(xtr)).split(40):
        loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print('epoch', epoch, 'loss', round(loss.item(), 3))

p, s = mc_predict(model, xte)
right = p.argmax(1) == yte
print(f'accuracy {right.float().mean():.3f}')
print(f'spread when right {s[right].mean():.4f}, when wrong {s[~right].mean():.4f}')
"""
