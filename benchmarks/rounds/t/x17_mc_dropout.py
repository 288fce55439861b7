NAME = 'Estimates the uncertainty of a solar-yield regressor with Monte Carlo dropout, 60 stochastic passes over the same inputs.'
FAULT = None
CURE = None
KIND = None
WHY = 'The repeated passes over the same inputs in training mode are needed, because each draws new dropout masks (from the very first layer on) and the spread of the passes is the result.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(51)


def make_panels(n, low=-2.0, high=2.0):
    x = low + (high - low) * torch.rand(n, 10)
    clean = torch.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * x[:, 3].abs()
    return x, clean + 0.1 * torch.randn(n)


class YieldNet(nn.Module):
    def __init__(self, width=320, p=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(0.02), nn.Linear(10, width), nn.ReLU(),
            nn.Dropout(p), nn.Linear(width, width), nn.ReLU(),
            nn.Dropout(p), nn.Linear(width, width), nn.ReLU(),
            nn.Dropout(p), nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def fit(net, x, y, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    net.train()
    for epoch in range(1, epochs + 1):
        total = 0.0
        for idx in torch.randperm(len(x)).split(250):
            loss = nn.functional.mse_loss(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            print(f"epoch {epoch}: mse {total / len(x):.4f}")


@torch.no_grad()
def mc_predict(net, x, passes=60):
    net.train()
    mean = torch.zeros(len(x))
    square = torch.zeros(len(x))
    for k in range(1, passes + 1):
        out = torch.cat([net(part) for part in x.split(1000)])
        delta = out - mean
        mean += delta / k
        square += delta * (out - mean)
    return mean, (square / (passes - 1)).sqrt()


x, y = make_panels(10_000)
net = YieldNet()
fit(net, x, y, 15)

x_in, y_in = make_panels(4_000)
x_out, y_out = make_panels(4_000, 2.5, 4.0)
for name, inputs, target in (("inside", x_in, y_in), ("outside", x_out, y_out)):
    mean, std = mc_predict(net, inputs)
    error = (mean - target).abs()
    corr = torch.corrcoef(torch.stack([error, std]))[0, 1].item()
    print(f"{name}: mae {error.mean().item():.3f}, mean std {std.mean().item():.3f}, correlation {corr:.3f}")
"""
