NAME = 'e23_population_training'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
import copy
import random
import torch
from torch import nn
import torch.nn.functional as F

random.seed(131)
torch.manual_seed(131)
torch.set_num_threads(1)

# Gesture windows from a wrist sensor: 64 samples x 6 axes, 7 gestures
T, AXES, GESTURES = 64, 6, 7
shape = torch.randn(GESTURES, AXES, 3)


def windows(n):
    y = torch.randint(0, GESTURES, (n,))
    t = torch.linspace(0, 6.28, T)
    waves = torch.stack([torch.sin(t), torch.sin(2 * t), torch.cos(3 * t)])
    x = shape[y] @ waves
    x = x * (1 + 0.3 * torch.randn(n, AXES, 1)) + 4.0 * torch.randn(n, AXES, T)
    return x.flatten(1), y


x_tr, y_tr = windows(3000)
x_va, y_va = windows(1000)


class Member:
    def __init__(self, ident):
        self.ident = ident
        self.model = nn.Sequential(
            nn.Linear(T * AXES, 512), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(512, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, GESTURES))
        lr = 10 ** random.uniform(-4.5, -1.5)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.score = 0.0

    @property
    def lr(self):
        return self.opt.param_groups[0]["lr"]

    def train(self, steps):
        self.model.train()
        for _ in range(steps):
            idx = torch.randint(0, len(x_tr), (192,))
            loss = F.cross_entropy(self.model(x_tr[idx]), y_tr[idx], label_smoothing=0.05)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        self.score = (self.model(x_va).argmax(1) == y_va).float().mean().item()

    def copy_from(self, other):
        self.model.load_state_dict(other.model.state_dict())
        # the optimizer would share its momentum buffers without the copy
        self.opt.load_state_dict(copy.deepcopy(other.opt.state_dict()))
        self.opt.param_groups[0]["lr"] = other.lr * random.choice([0.7, 1.4])


population = [Member(i) for i in range(6)]
for rnd in range(6):
    for m in population:
        m.train(30)
        m.evaluate()
    ranked = sorted(population, key=lambda m: m.score)
    for bad, good in zip(ranked[:2], ranked[-2:]):
        bad.copy_from(good)
    best = ranked[-1]
    print(f"round {rnd}: best member {best.ident}  acc {best.score:.3f}  lr {best.lr:.5f}  worst {ranked[0].score:.3f}")
'''
