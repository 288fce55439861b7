NAME = 'g01_flowers_head'
FAULT = 'Only the head is optimised, yet the frozen backbone still records a graph, so every backward pass computes gradients for all convolution layers for nothing.'
CURE = "Switch off requires_grad for the backbone's parameters."
KIND = 'time'
FAULT_LINES = [
    'opt = torch.optim.Adam(model.head.parameters(), lr=1e-2, weight_decay=1e-4)',
    '        loss.backward()',
    '        f = self.backbone(x)',
]
FAULT_CALLS = ['torch.Tensor.backward', 'aten::convolution_backward', 'aten::native_batch_norm_backward', 'aten::threshold_backward']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

# --- toy stand-in for the 5-flower data set ---------------------------------
n_cls, n_train, n_val, S = 5, 384, 128, 48
proto = F.interpolate(torch.rand(n_cls, 3, 6, 6), size=S, mode="bilinear")
def make(n):
    y = torch.randint(n_cls, (n,))
    x = proto[y] + 0.2 * torch.randn(n, 3, S, S)
    return x, y
x_tr, y_tr = make(n_train)
x_va, y_va = make(n_val)


def block(cin, cout, stride):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, 1, 1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class FlowerNet(nn.Module):
    """backbone from the self-supervised run, new linear head on top"""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            block(3, 24, 1), block(24, 48, 2), block(48, 96, 2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, n_cls))

    def forward(self, x):
        f = self.backbone(x)
        return self.head(f)


def augment(x):
    # random flip + random shift, new for each batch
    flip = torch.rand(len(x)) < 0.5
    x = torch.where(flip[:, None, None, None], x.flip(-1), x)
    dy, dx = torch.randint(-4, 5, (2,)).tolist()
    return torch.roll(x, (dy, dx), (-2, -1))


model = FlowerNet()
model.backbone.eval()        # keep the BN statistics of the pretraining
opt = torch.optim.Adam(model.head.parameters(), lr=1e-2, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 5)

for epoch in range(5):
    perm = torch.randperm(n_train)
    total = 0.0
    for i in range(0, n_train, 32):
        idx = perm[i:i + 32]
        xb, yb = augment(x_tr[idx]), y_tr[idx]
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()
    with torch.no_grad():
        acc = (model(x_va).argmax(1) == y_va).float().mean().item()
    print(f"epoch {epoch}  loss {total / n_train:.4f}  val acc {acc:.3f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

# --- toy stand-in for the 5-flower data set ---------------------------------
n_cls, n_train, n_val, S = 5, 384, 128, 48
proto = F.interpolate(torch.rand(n_cls, 3, 6, 6), size=S, mode="bilinear")
def make(n):
    y = torch.randint(n_cls, (n,))
    x = proto[y] + 0.2 * torch.randn(n, 3, S, S)
    return x, y
x_tr, y_tr = make(n_train)
x_va, y_va = make(n_val)


def block(cin, cout, stride):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, 1, 1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class FlowerNet(nn.Module):
    """backbone from the self-supervised run, new linear head on top"""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            block(3, 24, 1), block(24, 48, 2), block(48, 96, 2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, n_cls))

    def forward(self, x):
        f = self.backbone(x)
        return self.head(f)


def augment(x):
    # random flip + random shift, new for each batch
    flip = torch.rand(len(x)) < 0.5
    x = torch.where(flip[:, None, None, None], x.flip(-1), x)
    dy, dx = torch.randint(-4, 5, (2,)).tolist()
    return torch.roll(x, (dy, dx), (-2, -1))


model = FlowerNet()
model.backbone.eval()        # keep the BN statistics of the pretraining
model.backbone.requires_grad_(False)
opt = torch.optim.Adam(model.head.parameters(), lr=1e-2, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 5)

for epoch in range(5):
    perm = torch.randperm(n_train)
    total = 0.0
    for i in range(0, n_train, 32):
        idx = perm[i:i + 32]
        xb, yb = augment(x_tr[idx]), y_tr[idx]
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()
    with torch.no_grad():
        acc = (model(x_va).argmax(1) == y_va).float().mean().item()
    print(f"epoch {epoch}  loss {total / n_train:.4f}  val acc {acc:.3f}")
'''
