NAME = "Trains a mixture-density LSTM on synthetic pen strokes and writes new strokes point by point."
FAULT = "For each new pen point the LSTM reads the whole stroke again from its first point, so writing costs the square of the length, though its state could be carried on."
CURE = "Keep the LSTM state between steps and feed only the newest point."
KIND = "time"
FAULT_LINES = ["mixture = model(stroke)", "stroke = torch.cat([stroke, point.unsqueeze(1)], dim=1)",
               "def write(model, n_strokes, n_points, bias=0.5):", "strokes = write(model, n_strokes=32, n_points=240)"]
FAULT_CALLS = ["write", "lstm", "_VF.lstm", "mkldnn_rnn_layer", "linear", "addmm", "forward", "mm"]
FAULTY = r'''
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)

N_TRAIN, POINTS, MIX = 512, 80, 6


def synthetic_strokes(n, points):
    """Cursive loops: offsets (dx, dy) and a pen-up flag, one row per point."""
    t = torch.linspace(0, 6 * math.pi, points).repeat(n, 1)
    slant = torch.rand(n, 1) * 0.6 - 0.1
    height = 0.6 + 0.8 * torch.rand(n, 1)
    speed = 0.8 + 0.4 * torch.rand(n, 1)
    y = height * torch.sin(speed * t) + 0.15 * torch.sin(2.7 * t)
    x = 0.25 * t + 0.5 * torch.cos(speed * t) + slant * y
    xy = torch.stack([x, y], dim=-1) + 0.01 * torch.randn(n, points, 2)
    offsets = xy[:, 1:] - xy[:, :-1]
    pen_up = (torch.rand(n, points - 1, 1) < 0.04).float()
    return torch.cat([offsets / offsets.std(), pen_up], dim=-1)


class StrokeMDN(nn.Module):
    def __init__(self, hidden=128, mix=MIX):
        super().__init__()
        self.lstm = nn.LSTM(3, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 6 * mix + 1)

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h)


def split_params(y):
    logit_pi, mx, my, sx, sy, rho = y[..., :-1].chunk(6, dim=-1)
    return F.log_softmax(logit_pi, -1), mx, my, sx.clamp(-5, 3), sy.clamp(-5, 3), 0.95 * torch.tanh(rho), y[..., -1]


def stroke_nll(y, target):
    log_pi, mx, my, sx, sy, rho, pen = split_params(y)
    zx = (target[..., 0:1] - mx) * torch.exp(-sx)
    zy = (target[..., 1:2] - my) * torch.exp(-sy)
    one = 1 - rho ** 2
    log_n = -(zx ** 2 + zy ** 2 - 2 * rho * zx * zy) / (2 * one) - sx - sy - 0.5 * torch.log(one) - math.log(2 * math.pi)
    nll = -torch.logsumexp(log_pi + log_n, dim=-1)
    return (nll + F.binary_cross_entropy_with_logits(pen, target[..., 2], reduction="none")).mean()


def sample_point(y, bias):
    log_pi, mx, my, sx, sy, rho, pen = split_params(y)
    k = torch.multinomial((log_pi * (1 + bias)).exp(), 1)
    mx, my, sx, sy, rho = (v.gather(-1, k).squeeze(-1) for v in (mx, my, sx, sy, rho))
    e1, e2 = torch.randn(2, len(mx))
    dx = mx + torch.exp(sx - bias) * e1
    dy = my + torch.exp(sy - bias) * (rho * e1 + torch.sqrt(1 - rho ** 2) * e2)
    up = torch.bernoulli(torch.sigmoid(pen))
    return torch.stack([dx, dy, up], dim=-1).clamp(-4, 4)


@torch.no_grad()
def write(model, n_strokes, n_points, bias=0.5):
    model.eval()
    stroke = torch.zeros(n_strokes, 1, 3)
    for _ in range(n_points):
        mixture = model(stroke)
        point = sample_point(mixture[:, -1], bias)
        stroke = torch.cat([stroke, point.unsqueeze(1)], dim=1)
    return stroke[:, 1:]


data = synthetic_strokes(N_TRAIN, POINTS)
model = StrokeMDN()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    total = 0.0
    for rows in torch.randperm(N_TRAIN).split(32):
        loss = stroke_nll(model(data[rows, :-1]), data[rows, 1:])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        total += loss.item() * len(rows)
    print(f"epoch {epoch}: nll {total / N_TRAIN:.3f}")

strokes = write(model, n_strokes=32, n_points=240)
width = strokes[..., 0].sum(1)
print(f"written width {width.mean().item():.1f} +- {width.std().item():.1f}, pen lifts {strokes[..., 2].mean().item():.3f}")
'''
CURED = FAULTY.replace('''    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h)
''', '''    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h)

    def step(self, x, state):
        h, state = self.lstm(x, state)
        return self.out(h), state
''').replace('''    for _ in range(n_points):
        mixture = model(stroke)
''', '''    state = None
    for _ in range(n_points):
        mixture, state = model.step(stroke[:, -1:], state)
''')
