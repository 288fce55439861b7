# Looks suspicious: batch size 1, one optimizer step per sample, one .item() per sample in a Python loop.
# Right: in prequential evaluation each sample is predicted by the model that has learnt from all samples before it, then learnt from; a larger batch predicts with
# stale weights and takes fewer steps: another method with another result. The one forward serves for prediction and learning. Dropping the .item() is impossible
# (the error is logged and drives the drift detector). fused=True for the optimizer: measured, no gain beyond noise.

NAME = 'Prequential (test-then-train) evaluation of an online classifier on a drifting stream.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import torch
from torch import nn

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(13)
torch.manual_seed(13)


def stream(n, d=96, classes=5, drift_every=4000):
    W = torch.randn(d, classes, generator=gen)
    for t in range(n):
        if t and t % drift_every == 0:
            W = 0.3 * W + torch.randn(d, classes, generator=gen)
        x = torch.randn(1, d, generator=gen)
        yield x, (x @ W).argmax(1)


class PageHinkley:
    def __init__(self, delta=0.05, lam=60.0):
        self.delta, self.lam = delta, lam
        self.reset()

    def reset(self):
        self.n, self.mean, self.cum, self.low = 0, 0.0, 0.0, 0.0

    def update(self, err):
        self.n += 1
        self.mean += (err - self.mean) / self.n
        self.cum += err - self.mean - self.delta
        self.low = min(self.low, self.cum)
        return self.cum - self.low > self.lam


model = nn.Sequential(nn.Linear(96, 256), nn.ReLU(), nn.Linear(256, 5))
params = list(model.parameters())
opt = torch.optim.SGD(params, lr=0.02)
crit = nn.CrossEntropyLoss()
detector = PageHinkley()

wrong, alarms, window = 0, [], []
for t, (x, y) in enumerate(stream(32000)):
    logits = model(x)                                   # test ...
    err = int(logits.argmax(1).item() != y.item())
    wrong += err
    window.append(err)
    loss = crit(logits, y)                              # ... then train
    opt.zero_grad()
    loss.backward()
    opt.step()
    if detector.update(err):
        alarms.append(t)
        detector.reset()
        for group in opt.param_groups:
            group["lr"] = 0.03
    if (t + 1) % 4000 == 0:
        print(f"{t + 1:6d}  error in window {sum(window) / len(window):.3f}")
        window = []
print("prequential error", round(wrong / (t + 1), 4), "alarms", alarms)
"""
