NAME = 'Trains a pump life-time model and evaluates it with 70 Monte-Carlo dropout passes per batch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class SensorNet(nn.Module):
    '''Predicts remaining useful life from 14 pump sensors, with MC dropout for the uncertainty.'''

    def __init__(self, channels=14, width=48, p=0.2):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(channels, width, 5, padding=2), nn.ReLU(), nn.Dropout(p),
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.Dropout(p))
        self.head = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 1))

    def forward(self, x):
        return self.head(self.conv(x).mean(-1)).squeeze(-1)


def enable_dropout(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def predict_with_spread(model, loader, passes):
    enable_dropout(model)
    means, stds = [], []
    for x, _ in loader:
        draws = []
        for _ in range(passes):
            draws.append(model(x))
        draws = torch.stack(draws)
        means.append(draws.mean(0))
        stds.append(draws.std(0))
    return torch.cat(means), torch.cat(stds)


def simulate(n, length=96):
    life = torch.rand(n)
    t = torch.linspace(0, 1, length)
    base = torch.sin(20 * t)[None, None] * (1 + torch.arange(14)[None, :, None] / 14)
    drift = (1 - life)[:, None, None] * t[None, None] * torch.linspace(-1, 1, 14)[None, :, None]
    return base + 2 * drift + 0.3 * torch.randn(n, 14, length), life


x_train, y_train = simulate(768)
x_test, y_test = simulate(512)
train = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)
test = DataLoader(TensorDataset(x_test, y_test), batch_size=128)

model = SensorNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    model.train()
    for x, y in train:
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")

mean, std = predict_with_spread(model, test, passes=70)
err = (mean - y_test).abs()
inside = (err < 2 * std).float().mean()
order = std.argsort()
print(f"mae {err.mean():.3f} covered {inside:.2f}")
print(f"mae of the surest half {err[order[:256]].mean():.3f} of the rest {err[order[256:]].mean():.3f}")
"""
