NAME = 'Trains a dropout regression network on made-up concrete-strength data and measures its uncertainty with Monte Carlo dropout.'
FAULT = None
CURE = None
KIND = None
WHY = 'The model is left in training mode at test time and run many times on the same rows, but each pass draws other dropout masks from the first layer on, and their spread is the result.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(90)

INPUTS, WIDTH, PASSES = 8, 256, 60


def mixtures(n, stretch=1.0):
    x = stretch * torch.randn(n, INPUTS)
    cement, water, slag, age = x[:, 0], x[:, 1], x[:, 2], x[:, 3]
    strength = 1.2 * cement - 0.9 * water + 0.4 * slag * torch.tanh(age) + torch.sin(1.5 * age)
    return x, (strength + 0.2 * torch.randn(n)).unsqueeze(1)


class DropoutNet(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        sizes = [INPUTS, WIDTH, WIDTH, WIDTH]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.first = nn.Dropout(0.03)
        self.drop = nn.Dropout(rate)
        self.out = nn.Linear(WIDTH, 1)

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = self.drop(F.relu(layer(x)))
        return self.out(x)


def train(model, x, y, epochs=4):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        batches = torch.randperm(len(x)).split(128)
        for rows in batches:
            loss = F.mse_loss(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch}  train mse {running / len(batches):.4f}")


@torch.no_grad()
def predict(model, x, passes):
    model.train()
    mean = torch.zeros(len(x), 1)
    spread = torch.zeros(len(x), 1)
    for k in range(1, passes + 1):
        out = model(x)
        delta = out - mean
        mean += delta / k
        spread += delta * (out - mean)
    return mean, (spread / (passes - 1)).sqrt()


x, y = mixtures(16000)
model = DropoutNet()
train(model, x, y)

for name, stretch in (("same range", 1.0), ("wider range", 2.0)):
    x_test, y_test = mixtures(6000, stretch)
    mean, std = predict(model, x_test, PASSES)
    error = (mean - y_test).abs()
    ranks = torch.stack([std.flatten().argsort().argsort(), error.flatten().argsort().argsort()]).float()
    rho = torch.corrcoef(ranks)[0, 1].item()
    total = (std.square() + 0.2 ** 2).sqrt()
    inside = (error < 1.64 * total).float().mean().item()
    print(f"{name}: MAE {error.mean().item():.4f}  mean std {std.mean().item():.4f}  "
          f"coverage of 90% band {inside:.3f}  rank correlation {rho:.3f}")
'''
