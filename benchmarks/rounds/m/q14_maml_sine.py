NAME = 'First-order MAML on sine-wave regression: a copy of the model is adapted to each task, the meta-gradient is gathered from the copies.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import copy
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(31)
g = torch.Generator().manual_seed(31)

INNER_STEPS, INNER_LR, META_LR = 16, 0.02, 1e-3
TASKS_PER_META, META_ITERS, SHOTS = 4, 120, 128


class SineTask:
    def __init__(self):
        r = torch.rand(2, generator=g)
        self.amp = 0.5 + 4.5 * r[0].item()
        self.phase = math.pi * r[1].item()

    def sample(self, n):
        x = 10 * torch.rand(n, 1, generator=g) - 5
        return x, self.amp * torch.sin(x + self.phase)


class Net(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


def adapt(model, task, steps):
    learner = copy.deepcopy(model)
    params = list(learner.parameters())
    x, y = task.sample(SHOTS)
    for _ in range(steps):
        loss = nn.functional.mse_loss(learner(x), y)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            torch._foreach_add_(params, grads, alpha=-INNER_LR)
    return learner


def meta_step(model, opt):
    opt.zero_grad(set_to_none=False)
    total = 0.0
    for _ in range(TASKS_PER_META):
        task = SineTask()
        learner = adapt(model, task, INNER_STEPS)
        xq, yq = task.sample(SHOTS)
        loss = nn.functional.mse_loss(learner(xq), yq)
        grads = torch.autograd.grad(loss, list(learner.parameters()))
        for p, gr in zip(model.parameters(), grads):
            p.grad.add_(gr, alpha=1 / TASKS_PER_META)
        total += loss.item()
    opt.step()
    return total / TASKS_PER_META


def evaluate(model, n_tasks=60):
    before, after = 0.0, 0.0
    for _ in range(n_tasks):
        task = SineTask()
        learner = adapt(model, task, INNER_STEPS)
        x, y = task.sample(200)
        with torch.no_grad():
            before += nn.functional.mse_loss(model(x), y).item()
            after += nn.functional.mse_loss(learner(x), y).item()
    return before / n_tasks, after / n_tasks


model = Net()
for p in model.parameters():
    p.grad = torch.zeros_like(p)
opt = torch.optim.Adam(model.parameters(), lr=META_LR, fused=True)
b, a = evaluate(model)
print(f"untrained: before {b:.4f} after adaptation {a:.4f}")
recent = []
for it in range(META_ITERS):
    recent.append(meta_step(model, opt))
    if (it + 1) % 60 == 0:
        print(f"meta iteration {it + 1}: query loss {sum(recent[-40:]) / 40:.4f}")
b, a = evaluate(model)
print(f"trained: before {b:.4f} after adaptation {a:.4f}")
"""

MEASURED = ''
