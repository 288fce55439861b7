NAME = 'Trains a shared trunk with seven attribute heads (multi-task classification of synthetic profiles).'
FAULT = "Each task's loss is sent backward by itself with retain_graph=True, so the shared trunk is traversed backward once per task."
CURE = 'Add the losses up and call backward once; the accumulated gradients are the same.'
KIND = 'time'
FAULT_LINES = [
    'task_loss.backward(retain_graph=True)',
    'for name, task_loss in losses.items():',
]
FAULT_CALLS = [
    'backward',
    'Tensor.backward',
    'run_backward',
    'mm',
    'addmm',
]
FAULTY = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

TASKS = {"age_band": 6, "region": 12, "device": 4, "churn": 2, "segment": 9, "language": 5, "plan": 3}
N, D = 6400, 180
X = torch.randn(N, D)
Y = {k: (X @ torch.randn(D, c) + torch.randn(N, c)).argmax(1) for k, c in TASKS.items()}


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(D, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 128), nn.ReLU())
        self.heads = nn.ModuleDict({k: nn.Linear(128, c) for k, c in TASKS.items()})

    def forward(self, x):
        z = self.trunk(x)
        return {k: h(z) for k, h in self.heads.items()}


model = MultiHead()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
weights = {k: 1.0 / c ** 0.5 for k, c in TASKS.items()}

for epoch in range(8):
    running = {k: 0.0 for k in TASKS}
    for idx in torch.randperm(N).split(320):
        out = model(X[idx])
        losses = {k: weights[k] * F.cross_entropy(out[k], Y[k][idx]) for k in TASKS}
        opt.zero_grad()
        for name, task_loss in losses.items():
            task_loss.backward(retain_graph=True)
            running[name] += task_loss.item()
        opt.step()
    print(epoch, {k: round(v / 20, 3) for k, v in running.items()})

with torch.no_grad():
    out = model(X)
    print("train acc", {k: round((out[k].argmax(1) == Y[k]).float().mean().item(), 3) for k in TASKS})
"""
CURED = r"""
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

TASKS = {"age_band": 6, "region": 12, "device": 4, "churn": 2, "segment": 9, "language": 5, "plan": 3}
N, D = 6400, 180
X = torch.randn(N, D)
Y = {k: (X @ torch.randn(D, c) + torch.randn(N, c)).argmax(1) for k, c in TASKS.items()}


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(D, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 128), nn.ReLU())
        self.heads = nn.ModuleDict({k: nn.Linear(128, c) for k, c in TASKS.items()})

    def forward(self, x):
        z = self.trunk(x)
        return {k: h(z) for k, h in self.heads.items()}


model = MultiHead()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
weights = {k: 1.0 / c ** 0.5 for k, c in TASKS.items()}

for epoch in range(8):
    running = {k: 0.0 for k in TASKS}
    for idx in torch.randperm(N).split(320):
        out = model(X[idx])
        losses = {k: weights[k] * F.cross_entropy(out[k], Y[k][idx]) for k in TASKS}
        opt.zero_grad()
        for name, task_loss in losses.items():
            running[name] += task_loss.item()
        sum(losses.values()).backward()
        opt.step()
    print(epoch, {k: round(v / 20, 3) for k, v in running.items()})

with torch.no_grad():
    out = model(X)
    print("train acc", {k: round((out[k].argmax(1) == Y[k]).float().mean().item(), 3) for k in TASKS})
"""
