NAME = 'Trains a small image classifier with sharpness-aware minimisation (SAM).'
FAULT = None
CURE = None
KIND = None
WHY = 'Each step runs the forward and backward pass twice on the same batch, but the second pass is taken at the shifted weights, which is what SAM is.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(50)

CLASSES, SIZE = 8, 24


def make_glyphs(n):
    y = torch.randint(0, CLASSES, (n,))
    canvas = torch.zeros(n, 1, SIZE, SIZE)
    strokes = torch.rand(CLASSES, 1, 14, 14, generator=torch.Generator().manual_seed(1)) < 0.35
    top, left = torch.randint(3, 7, (2, n)).tolist()
    for i, (r, c) in enumerate(zip(top, left)):
        canvas[i, :, r:r + 14, c:c + 14] = strokes[y[i]].float()
    wrong = torch.rand(n) < 0.1
    y = torch.where(wrong, torch.randint(0, CLASSES, (n,)), y)
    return canvas + 0.5 * torch.randn_like(canvas), y


class GlyphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 48, 3, padding=1)
        self.c3 = nn.Conv2d(48, 64, 3, padding=1)
        self.fc = nn.Linear(64 * 9, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        x = F.max_pool2d(F.relu(self.c3(x)), 2)
        return self.fc(x.flatten(1))


class SAM:
    def __init__(self, params, rho, **kwargs):
        self.params = list(params)
        self.rho = rho
        self.base = torch.optim.SGD(self.params, **kwargs)

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.shift = [p.grad * (self.rho / (norm + 1e-12)) for p in self.params]
        for p, e in zip(self.params, self.shift):
            p.add_(e)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.params, self.shift):
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()


x, y = make_glyphs(1800)
x_test, y_test = make_glyphs(500)
net = GlyphNet().to(memory_format=torch.channels_last)
sam = SAM(net.parameters(), rho=0.02, lr=0.05, momentum=0.9, weight_decay=5e-4)

for epoch in range(4):
    flat = sharp = 0.0
    batches = torch.randperm(len(x)).split(60)
    for rows in batches:
        xb, yb = x[rows], y[rows]
        first = F.cross_entropy(net(xb), yb)
        first.backward()
        sam.climb()
        second = F.cross_entropy(net(xb), yb)
        second.backward()
        sam.descend()
        flat += first.item()
        sharp += second.item()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}  loss {flat / len(batches):.3f}  at shifted weights {sharp / len(batches):.3f}  acc {acc:.3f}")
'''
