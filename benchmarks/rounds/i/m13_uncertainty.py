NAME = 'Monte Carlo dropout uncertainty of an image classifier on a synthetic test set.'
FAULT = 'All 24 Monte Carlo passes run the whole network although the convolutional trunk has no dropout (and is in eval mode): it gives the same features each time.'
CURE = "Compute the trunk's features once per batch and repeat only the dropout head."
KIND = 'time'
FAULT_LINES = [
    'probs = torch.stack([model(xb).softmax(-1) for _ in range(n_samples)])',
    'return self.head(self.trunk(x).flatten(1))',
]
FAULT_CALLS = [
    'conv2d',
    'forward',
    'mc_predict',
    'Conv2d',
    '<listcomp>',
    'max_pool2d',
    'model',
]
FAULTY = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)


class Classifier(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Sequential(
            nn.Dropout(0.3), nn.Linear(48 * 16, 256), nn.ReLU(),
            nn.Dropout(0.5), nn.Linear(256, classes))

    def forward(self, x):
        return self.head(self.trunk(x).flatten(1))


def enable_mc(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def mc_predict(model, xb, n_samples=24):
    probs = torch.stack([model(xb).softmax(-1) for _ in range(n_samples)])
    mean = probs.mean(0)
    total = -(mean * mean.clamp_min(1e-12).log()).sum(-1)
    aleatoric = -(probs * probs.clamp_min(1e-12).log()).sum(-1).mean(0)
    return mean, total, total - aleatoric


model = Classifier()
enable_mc(model)
test = torch.randn(960, 3, 32, 32)
test[480:] += torch.linspace(-2, 2, 32)          # shifted half

entropy, mutual = [], []
for xb in test.split(120):
    _, h, mi = mc_predict(model, xb)
    entropy.append(h)
    mutual.append(mi)
entropy, mutual = torch.cat(entropy), torch.cat(mutual)
for name, part in (("in-distribution", slice(0, 480)), ("shifted", slice(480, None))):
    print(f"{name:16s} entropy {entropy[part].mean():.5f}  mutual information {mutual[part].mean():.6f}")
"""
CURED = r"""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(17)


class Classifier(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Sequential(
            nn.Dropout(0.3), nn.Linear(48 * 16, 256), nn.ReLU(),
            nn.Dropout(0.5), nn.Linear(256, classes))

    def forward(self, x):
        return self.head(self.trunk(x).flatten(1))


def enable_mc(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def mc_predict(model, xb, n_samples=24):
    feats = model.trunk(xb).flatten(1)
    probs = torch.stack([model.head(feats).softmax(-1) for _ in range(n_samples)])
    mean = probs.mean(0)
    total = -(mean * mean.clamp_min(1e-12).log()).sum(-1)
    aleatoric = -(probs * probs.clamp_min(1e-12).log()).sum(-1).mean(0)
    return mean, total, total - aleatoric


model = Classifier()
enable_mc(model)
test = torch.randn(960, 3, 32, 32)
test[480:] += torch.linspace(-2, 2, 32)          # shifted half

entropy, mutual = [], []
for xb in test.split(120):
    _, h, mi = mc_predict(model, xb)
    entropy.append(h)
    mutual.append(mi)
entropy, mutual = torch.cat(entropy), torch.cat(mutual)
for name, part in (("in-distribution", slice(0, 480)), ("shifted", slice(480, None))):
    print(f"{name:16s} entropy {entropy[part].mean():.5f}  mutual information {mutual[part].mean():.6f}")
"""
