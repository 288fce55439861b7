NAME = "Architecture study: successive halving over random MLP designs on a synthetic pattern task, with a retrained winner."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import copy, random
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)
random.seed(6)

DIM, CLASSES, N_TRAIN, N_VAL = 96, 12, 8192, 1024


def pattern_task(n, proto, mix):
    y = torch.randint(0, CLASSES, (n,))
    z = proto[y] + 0.9 * torch.randn(n, proto.shape[1])
    return torch.tanh(z @ mix) + 0.2 * torch.randn(n, DIM), y


proto, mix = torch.randn(CLASSES, 16), torch.randn(16, DIM) / 3
x, y = pattern_task(N_TRAIN, proto, mix)
xv, yv = pattern_task(N_VAL, proto, mix)

ACTS = {"relu": nn.ReLU, "tanh": nn.Tanh, "hardswish": nn.Hardswish}


class Residual(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.lin, self.act = nn.Linear(width, width), ACTS[act]()

    def forward(self, h):
        return h + self.act(self.lin(h))


def build(spec):
    width, depth, act, skip = spec
    layers = [nn.Linear(DIM, width), ACTS[act]()]
    for _ in range(depth):
        layers += [Residual(width, act)] if skip else [nn.Linear(width, width), ACTS[act]()]
    return nn.Sequential(*layers, nn.Linear(width, CLASSES))


def design_space(n):
    seen = set()
    while len(seen) < n:
        seen.add((random.choice([192, 256, 320, 384]), random.randint(1, 3),
                  random.choice(list(ACTS)), random.random() < 0.5))
    return sorted(seen)


class Trial:
    def __init__(self, spec):
        torch.manual_seed(100)
        self.spec, self.model = spec, build(spec)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.03, momentum=0.9)
        self.score, self.best = 0.0, None

    def train(self, epochs, batch=512):
        for _ in range(epochs):
            for idx in torch.randperm(N_TRAIN).split(batch):
                loss = F.cross_entropy(self.model(x[idx]), y[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        with torch.no_grad():
            score = (self.model(xv).argmax(1) == yv).float().mean().item()
        if score >= self.score:
            self.score = score
            self.best = copy.deepcopy(self.model.state_dict())
        return self.score


trials = [Trial(s) for s in design_space(12)]
budget = 1
while len(trials) > 1:
    for t in trials:
        t.train(budget)
    trials.sort(key=lambda t: -t.score)
    w, d, act, skip = trials[0].spec
    print(f"{len(trials):2d} designs, +{budget} epochs: best {trials[0].score:.3f} width {w} depth {d} {act} skip={skip}")
    trials = trials[:len(trials) // 2]
    budget *= 2

# the winner again from scratch with other seeds
scores = []
for seed in range(2):
    fresh = Trial(trials[0].spec)
    torch.manual_seed(seed)
    fresh.train(6)
    scores.append(fresh.score)
winner = build(trials[0].spec)
winner.load_state_dict(trials[0].best)
n_par = sum(p.numel() for p in winner.parameters())
print("winner retrained:", [round(s, 3) for s in scores], "parameters", n_par)
'''
LOOKS = "A new model and optimiser for every design, a deepcopy of the state dict after every rung and the winner trained again look like repeated work; the designs all differ, survivors go on from their own state, the copies take well under 1% of the time, and the retraining is the seed check."
