NAME = 'Trains a defect classifier with hard-example mining that rescores the training set before each epoch.'
FAULT = None
CURE = None
KIND = None
WHY = 'Scoring the whole training set before every epoch and making a new weighted draw is needed, as the weights depend on the current model; it is one forward pass without gradients in large batches.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(53)

N, FEATURES, CLASSES = 12_000, 256, 9
centres = torch.randn(CLASSES, FEATURES)
frequency = torch.tensor([40, 20, 12, 8, 6, 5, 4, 3, 2]).float()


def make_parts(n):
    y = torch.multinomial(frequency, n, replacement=True)
    x = 0.22 * centres[y] + torch.randn(n, FEATURES)
    return x, y


class DefectNet(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.a = nn.Linear(FEATURES, width)
        self.b = nn.Linear(width, width)
        self.c = nn.Linear(width, CLASSES)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h = F.gelu(self.a(x))
        h = self.norm(h + F.gelu(self.b(h)))
        return self.c(h)


@torch.no_grad()
def difficulty(model, x, y):
    model.eval()
    losses = [F.cross_entropy(model(xb), yb, reduction="none") for xb, yb in zip(x.split(1000), y.split(1000))]
    return torch.cat(losses)


@torch.no_grad()
def balanced_accuracy(model, x, y):
    model.eval()
    guess = model(x).argmax(1)
    per_class = [(guess[y == c] == c).float().mean() for c in range(CLASSES)]
    return torch.stack(per_class).mean().item()


def hard_draw(scores, n, temperature):
    weights = (scores.clamp(0.05, 4.0)) ** temperature
    return torch.multinomial(weights, n, replacement=True)


x, y = make_parts(N)
x_test, y_test = make_parts(3_000)
model = DefectNet()
opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)

for epoch in range(14):
    scores = difficulty(model, x, y)
    order = hard_draw(scores, N, 0.5)
    model.train()
    total = 0.0
    for idx in order.split(200):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 2 == 1:
        accuracy = balanced_accuracy(model, x_test, y_test)
        print(f"epoch {epoch}: mean difficulty {scores.mean().item():.3f}, loss {total / N:.3f}, balanced accuracy {accuracy:.3f}")
"""
