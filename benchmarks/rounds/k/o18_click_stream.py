NAME = 'Learns from a click stream one event at a time: predict, score, feed the drift detector, then update.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(18)


class PageHinkley:
    '''Drift detector on a stream of losses.'''

    def __init__(self, delta=0.05, threshold=12.0):
        self.delta, self.threshold = delta, threshold
        self.reset()

    def reset(self):
        self.n, self.mean, self.cum, self.low = 0, 0.0, 0.0, 0.0

    def update(self, value):
        self.n += 1
        self.mean += (value - self.mean) / self.n
        self.cum += value - self.mean - self.delta
        self.low = min(self.low, self.cum)
        return self.n > 150 and self.cum - self.low > self.threshold


class ClickNet(nn.Module):
    def __init__(self, n_feat=64, width=640):
        super().__init__()
        self.l1, self.l2, self.out = nn.Linear(n_feat, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        h = torch.relu(self.l1(x))
        return self.out(torch.relu(self.l2(h))).squeeze(-1)


def click_stream(n, n_feat=64, switch=2500):
    taste = torch.randn(n_feat) / 3
    for i in range(n):
        if i % switch == switch - 1:
            taste = torch.randn(n_feat) / 3
        x = torch.randn(1, n_feat)
        yield x, (torch.sigmoid(3 * x @ taste) > torch.rand(1)).float()


def set_rate(opt, rate):
    for group in opt.param_groups:
        group["lr"] = rate


model, detector = ClickNet(), PageHinkley()
opt = torch.optim.SGD(model.parameters(), lr=0.02)
loss_sum, right, alarms, since = 0.0, 0, [], 0
for i, (x, y) in enumerate(click_stream(7500)):
    logit = model(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    value = loss.item()
    loss_sum += value
    right += int((logit.item() > 0) == bool(y.item()))
    if detector.update(value):
        alarms.append(i)
        detector.reset()
        since = 0
    since += 1
    set_rate(opt, 0.02 / math.sqrt(1 + since / 1000))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 1500 == 1499:
        print(f"seen {i + 1} progressive loss {loss_sum / (i + 1):.3f} accuracy {right / (i + 1):.3f}")
print("alarms", len(alarms))
"""
