NAME = 'Trains a linear head on the features of a fixed convolutional network, with random augmentation.'
FAULT = 'The fixed network runs with gradients recorded, and so backward goes through all of it although only the head is trained.'
CURE = 'Run the fixed network under torch.no_grad().'
KIND = 'time'
FAULT_LINES = [
    'loss.backward()',
    'feats = backbone(augment(x))',
    'logits = head(feats)',
]
FAULT_CALLS = [
    'torch.Tensor.backward',
    'ConvolutionBackward0',
    'aten::convolution_backward',
    'conv2d',
    'autograd',
]

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)


def conv_block(cin, cout, stride):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


# stands in for the weights that we would download
backbone = nn.Sequential(
    conv_block(3, 24, 1), conv_block(24, 48, 2), conv_block(48, 48, 1), conv_block(48, 96, 2), conv_block(96, 96, 1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(),
)
backbone.eval()

n_classes = 6
head = nn.Linear(96, n_classes)
optimizer = torch.optim.Adam(head.parameters(), lr=0.03)


def make_leaves(n, size=48):
    labels = torch.randint(0, n_classes, (n,))
    g = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    ang, rad = torch.atan2(yy, xx), (xx ** 2 + yy ** 2).sqrt()
    shape = 0.5 + 0.2 * torch.cos((labels + 2)[:, None, None] * ang)
    mask = (rad < shape).float()
    tint = torch.stack([0.2 + 0.1 * labels, 0.9 - 0.1 * labels, torch.full((n,), 0.3)], 1)
    return mask[:, None] * tint[:, :, None, None] + 0.25 * torch.randn(n, 3, size, size), labels


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    dy, dx = torch.randint(0, 9, (2,)).tolist()
    return F.pad(x, (4, 4, 4, 4))[:, :, dy:dy + x.shape[2], dx:dx + x.shape[3]]


images, labels = make_leaves(640)
test_images, test_labels = make_leaves(128)


def train_epoch():
    total = 0.0
    for idx in torch.randperm(len(images)).split(32):
        x, y = images[idx], labels[idx]
        feats = backbone(augment(x))
        logits = head(feats)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(images)


for epoch in range(3):
    avg = train_epoch()

with torch.no_grad():
    acc = (head(backbone(test_images)).argmax(1) == test_labels).float().mean().item()
print(f"loss {avg:.4f}, accuracy {acc:.3f}")
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(17)


def conv_block(cin, cout, stride):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


# stands in for the weights that we would download
backbone = nn.Sequential(
    conv_block(3, 24, 1), conv_block(24, 48, 2), conv_block(48, 48, 1), conv_block(48, 96, 2), conv_block(96, 96, 1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(),
)
backbone.eval()

n_classes = 6
head = nn.Linear(96, n_classes)
optimizer = torch.optim.Adam(head.parameters(), lr=0.03)


def make_leaves(n, size=48):
    labels = torch.randint(0, n_classes, (n,))
    g = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    ang, rad = torch.atan2(yy, xx), (xx ** 2 + yy ** 2).sqrt()
    shape = 0.5 + 0.2 * torch.cos((labels + 2)[:, None, None] * ang)
    mask = (rad < shape).float()
    tint = torch.stack([0.2 + 0.1 * labels, 0.9 - 0.1 * labels, torch.full((n,), 0.3)], 1)
    return mask[:, None] * tint[:, :, None, None] + 0.25 * torch.randn(n, 3, size, size), labels


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    dy, dx = torch.randint(0, 9, (2,)).tolist()
    return F.pad(x, (4, 4, 4, 4))[:, :, dy:dy + x.shape[2], dx:dx + x.shape[3]]


images, labels = make_leaves(640)
test_images, test_labels = make_leaves(128)


def train_epoch():
    total = 0.0
    for idx in torch.randperm(len(images)).split(32):
        x, y = images[idx], labels[idx]
        with torch.no_grad():
            feats = backbone(augment(x))
        logits = head(feats)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(images)


for epoch in range(3):
    avg = train_epoch()

with torch.no_grad():
    acc = (head(backbone(test_images)).argmax(1) == test_labels).float().mean().item()
print(f"loss {avg:.4f}, accuracy {acc:.3f}")
"""
