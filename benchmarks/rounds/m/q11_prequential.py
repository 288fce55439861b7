NAME = 'Online learning on a drifting stream, test-then-train with single examples and a drift detector.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

N_STREAM, N_FEAT, CLASSES, WIDTH = 6000, 128, 4, 512


def drifting_stream(seed=23):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((CLASSES, N_FEAT)).astype(np.float32)
    for t in range(N_STREAM):
        if t and t % 1500 == 0:
            centres = centres[rng.permutation(CLASSES)]
        k = int(rng.integers(CLASSES))
        x = 0.45 * centres[k] + rng.standard_normal(N_FEAT).astype(np.float32)
        yield torch.from_numpy(x), k


class DDM:
    def __init__(self, warm=30):
        self.warm = warm
        self.reset()

    def reset(self):
        self.n, self.p = 0, 0.0
        self.best = (math.inf, math.inf)

    def update(self, error):
        self.n += 1
        self.p += (error - self.p) / self.n
        s = math.sqrt(self.p * (1 - self.p) / self.n)
        if self.n < self.warm:
            return False
        if self.p + s < sum(self.best):
            self.best = (self.p, s)
        return self.p + s > self.best[0] + 3 * self.best[1]


class OnlineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(N_FEAT, WIDTH)
        self.fc2 = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.out(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


LR_BASE, LR_BOOST = 0.004, 0.02
net = OnlineNet()
opt = torch.optim.SGD(net.parameters(), lr=LR_BASE, fused=True)
detector = DDM()
hits, drifts, curve = 0, [], []
cooldown = 0
for t, (x, k) in enumerate(drifting_stream()):
    logits = net(x)
    correct = logits.argmax().item() == k
    hits += correct

    loss = F.cross_entropy(logits, torch.tensor(k))
    opt.zero_grad()
    loss.backward()
    opt.step()

    if detector.update(0.0 if correct else 1.0):
        drifts.append(t)
        detector.reset()
        cooldown = 200
    opt.param_groups[0]["lr"] = LR_BOOST if cooldown > 0 else LR_BASE
    cooldown -= 1
    if (t + 1) % 500 == 0:
        curve.append(hits / 500)
        hits = 0

print("prequential accuracy per 500:", [round(a, 3) for a in curve])
print("drift alarms at:", drifts[:6], "of", len(drifts))
print(f"last loss {loss.item():.4f}")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 2 rounds: 5.92 s (6.05, 5.78). Peak RSS 309 MB. Change tried: argmax on a numpy view instead of .item(): 6.01 s (6.02, 6.0), gain -1.6%, peak RSS 309 MB.'
