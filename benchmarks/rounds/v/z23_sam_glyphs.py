NAME = 'Trains a residual MLP on noisy glyphs with label noise using sharpness-aware minimisation.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The second forward and backward pass and the copies of the weights are the SAM algorithm itself (gradient at the perturbed weights, then return to the saved ones), and the copies are cheap.'
GOOD = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)


class SAM:
    '''Sharpness-aware minimisation around any base optimizer.'''

    def __init__(self, params, base, rho=0.2):
        self.params = [p for p in params if p.requires_grad]
        self.base, self.rho = base, rho
        self.saved = None

    @torch.no_grad()
    def climb(self):
        norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in self.params]))
        scale = self.rho / (norm + 1e-12)
        self.saved = [p.detach().clone() for p in self.params]
        for p in self.params:
            p.add_(p.grad * scale)
        self.base.zero_grad()
        return norm.item()

    @torch.no_grad()
    def descend(self):
        for p, s in zip(self.params, self.saved):
            p.copy_(s)
        self.saved = None
        self.base.step()
        self.base.zero_grad()


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


def make_glyphs(n, protos, noise=1.3):
    y = torch.randint(len(protos), (n,))
    x = protos[y]
    shift = torch.randint(-2, 3, (n,)).tolist()
    x = torch.stack([img.roll(s, dims=1) for img, s in zip(x, shift)])
    return x + noise * torch.randn_like(x), y


protos = torch.randn(20, 24, 24)
protos = F.avg_pool2d(protos[:, None], 5, 1, 2)[:, 0] * 4
train_x, train_y = make_glyphs(6000, protos)
test_x, test_y = make_glyphs(2000, protos)
flip = torch.rand(len(train_y)) < 0.2
train_y[flip] = torch.randint(20, (int(flip.sum()),))

net = nn.Sequential(nn.Flatten(), nn.Linear(576, 384), Residual(384), Residual(384), nn.LayerNorm(384), nn.Linear(384, 20))
base = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
sam = SAM(net.parameters(), base)
EPOCHS, BATCH = 10, 250

for epoch in range(EPOCHS):
    base.param_groups[0]["lr"] = 0.02 * (1 - epoch / EPOCHS)
    total, norms = 0.0, 0.0
    net.train()
    for idx in torch.randperm(len(train_x)).split(BATCH):
        xb, yb = train_x[idx], train_y[idx]
        loss = F.cross_entropy(net(xb), yb, label_smoothing=0.05)
        loss.backward()
        norms += sam.climb()
        F.cross_entropy(net(xb), yb, label_smoothing=0.05).backward()
        sam.descend()
        total += loss.item() * len(yb)
    net.eval()
    with torch.no_grad():
        acc = (net(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch}  loss {total / len(train_x):.4f}  grad norm {norms * BATCH / len(train_x):.3f}  clean test {acc:.3f}")
"""
