NAME = 'Trains a regression network with a Lookahead optimizer and a warm-up schedule while keeping a run log on disk.'
FAULT = 'The whole history is written anew as JSON to disk at every step, so the logging work grows quadratically with the number of steps.'
CURE = 'Append one JSON line per step and parse the lines at the end.'
KIND = 'time'
FAULT_LINES = ['json.dump(self.history, f)', 'with open(self.path, "w") as f:', 'self.history.append(values)', 'log.add(step=step, loss=round(loss.item(), 6), grad_norm=round(norm.item(), 6),']
FAULT_CALLS = ['json.dump', 'dump', 'add', 'open', 'write', '_iterencode', '_iterencode_dict', '_iterencode_list']
FAULTY = r"""import json
import os
import tempfile
import torch
from torch import nn
from torch.optim import Optimizer

torch.set_num_threads(1)
torch.manual_seed(21)


class Lookahead(Optimizer):
    '''Wraps a fast optimizer and pulls the slow weights towards it every k steps.'''

    def __init__(self, inner, k=5, alpha=0.5):
        self.inner, self.k, self.alpha, self.count = inner, k, alpha, 0
        self.param_groups = inner.param_groups
        self.slow = [[p.detach().clone() for p in g["params"]] for g in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.inner.zero_grad(set_to_none=set_to_none)

    @torch.no_grad()
    def step(self, closure=None):
        self.inner.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.param_groups, self.slow):
                for p, s in zip(group["params"], slow):
                    s.lerp_(p, self.alpha)
                    p.copy_(s)


def warmup_then_decay(step, warmup=60, total=1800, peak=2e-3):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (1 - (step - warmup) / (total - warmup))


def sample_batch(n):
    x = torch.rand(n, 12) * 2 - 1
    y = (torch.sin(3 * x[:, 0] * x[:, 1]) + x[:, 2].abs() * x[:, 3] + 0.5 * torch.cos(4 * x[:, 4])
         + 0.05 * torch.randn(n))
    return x, y


class RunLog:
    def __init__(self, folder):
        self.path = os.path.join(folder, "history.json")
        self.history = []

    def add(self, **values):
        self.history.append(values)
        with open(self.path, "w") as f:
            json.dump(self.history, f)

    def load(self):
        with open(self.path) as f:
            return json.load(f)


net = nn.Sequential(nn.Linear(12, 224), nn.SiLU(), nn.Linear(224, 224), nn.SiLU(), nn.Linear(224, 224), nn.SiLU(),
                    nn.Linear(224, 1))
opt = Lookahead(torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3))
test_x, test_y = sample_batch(4000)
STEPS = 1800

with tempfile.TemporaryDirectory() as folder:
    log = RunLog(folder)
    for step in range(STEPS):
        for group in opt.param_groups:
            group["lr"] = warmup_then_decay(step, total=STEPS)
        x, y = sample_batch(160)
        loss = (net(x).squeeze(1) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        log.add(step=step, loss=round(loss.item(), 6), grad_norm=round(norm.item(), 6),
                lr=round(opt.param_groups[0]["lr"], 8), clipped=norm.item() > 1.0)
    records = log.load()

with torch.no_grad():
    test_mse = (net(test_x).squeeze(1) - test_y).square().mean().item()
for start in range(0, STEPS, 600):
    part = records[start:start + 600]
    print(f"steps {start:4d}-{start + 599}: loss {sum(r['loss'] for r in part) / 600:.4f}  "
          f"grad norm {sum(r['grad_norm'] for r in part) / 600:.3f}  clipped {sum(r['clipped'] for r in part)}")
print(f"{len(records)} records, test mse {test_mse:.4f}")
"""
CURED = r"""import json
import os
import tempfile
import torch
from torch import nn
from torch.optim import Optimizer

torch.set_num_threads(1)
torch.manual_seed(21)


class Lookahead(Optimizer):
    '''Wraps a fast optimizer and pulls the slow weights towards it every k steps.'''

    def __init__(self, inner, k=5, alpha=0.5):
        self.inner, self.k, self.alpha, self.count = inner, k, alpha, 0
        self.param_groups = inner.param_groups
        self.slow = [[p.detach().clone() for p in g["params"]] for g in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.inner.zero_grad(set_to_none=set_to_none)

    @torch.no_grad()
    def step(self, closure=None):
        self.inner.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.param_groups, self.slow):
                for p, s in zip(group["params"], slow):
                    s.lerp_(p, self.alpha)
                    p.copy_(s)


def warmup_then_decay(step, warmup=60, total=1800, peak=2e-3):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (1 - (step - warmup) / (total - warmup))


def sample_batch(n):
    x = torch.rand(n, 12) * 2 - 1
    y = (torch.sin(3 * x[:, 0] * x[:, 1]) + x[:, 2].abs() * x[:, 3] + 0.5 * torch.cos(4 * x[:, 4])
         + 0.05 * torch.randn(n))
    return x, y


class RunLog:
    def __init__(self, folder):
        self.path = os.path.join(folder, "history.json")

    def add(self, **values):
        with open(self.path, "a") as f:
            f.write(json.dumps(values) + "\n")

    def load(self):
        with open(self.path) as f:
            return [json.loads(line) for line in f]


net = nn.Sequential(nn.Linear(12, 224), nn.SiLU(), nn.Linear(224, 224), nn.SiLU(), nn.Linear(224, 224), nn.SiLU(),
                    nn.Linear(224, 1))
opt = Lookahead(torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3))
test_x, test_y = sample_batch(4000)
STEPS = 1800

with tempfile.TemporaryDirectory() as folder:
    log = RunLog(folder)
    for step in range(STEPS):
        for group in opt.param_groups:
            group["lr"] = warmup_then_decay(step, total=STEPS)
        x, y = sample_batch(160)
        loss = (net(x).squeeze(1) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        log.add(step=step, loss=round(loss.item(), 6), grad_norm=round(norm.item(), 6),
                lr=round(opt.param_groups[0]["lr"], 8), clipped=norm.item() > 1.0)
    records = log.load()

with torch.no_grad():
    test_mse = (net(test_x).squeeze(1) - test_y).square().mean().item()
for start in range(0, STEPS, 600):
    part = records[start:start + 600]
    print(f"steps {start:4d}-{start + 599}: loss {sum(r['loss'] for r in part) / 600:.4f}  "
          f"grad norm {sum(r['grad_norm'] for r in part) / 600:.3f}  clipped {sum(r['clipped'] for r in part)}")
print(f"{len(records)} records, test mse {test_mse:.4f}")
"""
