NAME = 'Trains a new linear head on a frozen image backbone with freshly augmented pictures in every epoch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The pictures are shifted, scaled and made noisy anew for every batch, so the frozen features differ each time and cannot be computed once and kept.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(101)

SIDE, OLD, NEW, WIDTH = 24, 16, 6, 1152
shapes = F.interpolate(torch.randn(OLD + NEW, 1, 6, 6), size=SIDE, mode="bicubic").squeeze(1)


def pictures(n, first, count):
    y = torch.randint(0, count, (n,))
    x = shapes[first + y] + 0.4 * torch.randn(n, SIDE, SIDE)
    return x, y


def augment(x):
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    x = torch.roll(x, (dy, dx), dims=(1, 2))
    gain = 0.7 + 0.6 * torch.rand(len(x), 1, 1)
    return x * gain + 0.2 * torch.randn_like(x)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(SIDE * SIDE, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def pretrain(backbone, steps):
    head = nn.Linear(WIDTH, OLD)
    opt = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
    for step in range(steps):
        x, y = pictures(256, 0, OLD)
        loss = F.cross_entropy(head(backbone(augment(x))), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"pretraining loss {loss.item():.3f}")


@torch.no_grad()
def accuracy(backbone, head, x, y):
    hits = 0
    for xb, yb in zip(x.split(500), y.split(500)):
        hits += (head(backbone(xb)).argmax(1) == yb).sum().item()
    return hits / len(y)


backbone = Backbone()
pretrain(backbone, 40)
for p in backbone.parameters():
    p.requires_grad_(False)
backbone.eval()

x_train, y_train = pictures(3000, OLD, NEW)
x_test, y_test = pictures(1000, OLD, NEW)
x_shifted = torch.roll(x_test, (2, -2), dims=(1, 2))

head = nn.Linear(WIDTH, NEW)
opt = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=1e-2)

for epoch in range(12):
    head.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(250):
        with torch.no_grad():
            feats = backbone(augment(x_train[idx]))
        loss = F.cross_entropy(head(feats), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        head.eval()
        plain = accuracy(backbone, head, x_test, y_test)
        moved = accuracy(backbone, head, x_shifted, y_test)
        print(f"epoch {epoch}: loss {total / len(x_train):.3f}, test acc {plain:.3f}, shifted test acc {moved:.3f}")
'''
