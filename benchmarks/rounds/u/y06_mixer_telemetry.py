NAME = "Trains a small residual MLP on a teacher's labels with hooks that record activation statistics of every layer in a JSON telemetry file."
FAULT = 'The telemetry file is rewritten with the whole history after every single step, so that the writing grows with the square of the number of steps.'
CURE = 'Write the file once at the end of each epoch.'
KIND = 'time'
FAULT_LINES = ['probe.save()', 'json.dump(self.history, f)', 'with open(self.path, "w") as f:']
FAULT_CALLS = ['json.dump', 'dump', 'save', 'Telemetry.save', 'open', 'write']

FAULTY = r'''
import json
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(14)

DIM, WIDTH, DEPTH, CLASSES = 32, 96, 5, 8
BATCH, EPOCHS, STEPS = 128, 3, 430


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.act = nn.GELU()
        self.outer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(self.act(self.inner(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(DIM, WIDTH)
        self.blocks = nn.Sequential(*[Block(WIDTH) for _ in range(DEPTH)])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class Telemetry:
    """Collects mean, spread and share of dead units of each block's activation."""

    def __init__(self, model, path):
        self.path = path
        self.history = {"loss": [], "lr": []}
        self.handles = []
        for name, module in model.named_modules():
            if isinstance(module, nn.GELU):
                self.history[name] = {"mean": [], "std": [], "dead": []}
                self.handles.append(module.register_forward_hook(self.make_hook(name)))

    def make_hook(self, name):
        def hook(module, args, output):
            if not module.training:
                return
            out = output.detach()
            rec = self.history[name]
            rec["mean"].append(out.mean().item())
            rec["std"].append(out.std().item())
            rec["dead"].append((out.amax(0) < 0.05).float().mean().item())
        return hook

    def scalar(self, key, value):
        self.history[key].append(value)

    def save(self):
        with open(self.path, "w") as f:
            json.dump(self.history, f)

    def close(self):
        for h in self.handles:
            h.remove()


teacher = nn.Sequential(nn.Linear(DIM, 64), nn.Tanh(), nn.Linear(64, CLASSES))
with torch.no_grad():
    inputs = torch.randn(30_000, DIM)
    labels = (6 * teacher(inputs)).argmax(1)
train_x, train_y = inputs[:28_000], labels[:28_000]
test_x, test_y = inputs[28_000:], labels[28_000:]

model = ResMLP()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * STEPS)

with tempfile.TemporaryDirectory() as folder:
    probe = Telemetry(model, os.path.join(folder, "telemetry.json"))
    for epoch in range(EPOCHS):
        model.train()
        for step in range(STEPS):
            pick = torch.randint(0, len(train_x), (BATCH,))
            loss = F.cross_entropy(model(train_x[pick]), train_y[pick])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            probe.scalar("loss", loss.item())
            probe.scalar("lr", sched.get_last_lr()[0])
            probe.save()
        model.eval()
        with torch.no_grad():
            acc = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch}: test accuracy {acc:.3f}")
    probe.close()

    with open(probe.path) as f:
        saved = json.load(f)
print("records:", len(saved["loss"]), "last loss:", round(sum(saved["loss"][-50:]) / 50, 3))
for name, rec in saved.items():
    if isinstance(rec, dict):
        print(name, "std", round(rec["std"][-1], 3), "dead", round(rec["dead"][-1], 3))
'''

CURED = r'''
import json
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(14)

DIM, WIDTH, DEPTH, CLASSES = 32, 96, 5, 8
BATCH, EPOCHS, STEPS = 128, 3, 430


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.act = nn.GELU()
        self.outer = nn.Linear(width, width)

    def forward(self, x):
        return x + self.outer(self.act(self.inner(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(DIM, WIDTH)
        self.blocks = nn.Sequential(*[Block(WIDTH) for _ in range(DEPTH)])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class Telemetry:
    """Collects mean, spread and share of dead units of each block's activation."""

    def __init__(self, model, path):
        self.path = path
        self.history = {"loss": [], "lr": []}
        self.handles = []
        for name, module in model.named_modules():
            if isinstance(module, nn.GELU):
                self.history[name] = {"mean": [], "std": [], "dead": []}
                self.handles.append(module.register_forward_hook(self.make_hook(name)))

    def make_hook(self, name):
        def hook(module, args, output):
            if not module.training:
                return
            out = output.detach()
            rec = self.history[name]
            rec["mean"].append(out.mean().item())
            rec["std"].append(out.std().item())
            rec["dead"].append((out.amax(0) < 0.05).float().mean().item())
        return hook

    def scalar(self, key, value):
        self.history[key].append(value)

    def save(self):
        with open(self.path, "w") as f:
            json.dump(self.history, f)

    def close(self):
        for h in self.handles:
            h.remove()


teacher = nn.Sequential(nn.Linear(DIM, 64), nn.Tanh(), nn.Linear(64, CLASSES))
with torch.no_grad():
    inputs = torch.randn(30_000, DIM)
    labels = (6 * teacher(inputs)).argmax(1)
train_x, train_y = inputs[:28_000], labels[:28_000]
test_x, test_y = inputs[28_000:], labels[28_000:]

model = ResMLP()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * STEPS)

with tempfile.TemporaryDirectory() as folder:
    probe = Telemetry(model, os.path.join(folder, "telemetry.json"))
    for epoch in range(EPOCHS):
        model.train()
        for step in range(STEPS):
            pick = torch.randint(0, len(train_x), (BATCH,))
            loss = F.cross_entropy(model(train_x[pick]), train_y[pick])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            probe.scalar("loss", loss.item())
            probe.scalar("lr", sched.get_last_lr()[0])
        probe.save()
        model.eval()
        with torch.no_grad():
            acc = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch}: test accuracy {acc:.3f}")
    probe.close()

    with open(probe.path) as f:
        saved = json.load(f)
print("records:", len(saved["loss"]), "last loss:", round(sum(saved["loss"][-50:]) / 50, 3))
for name, rec in saved.items():
    if isinstance(rec, dict):
        print(name, "std", round(rec["std"][-1], 3), "dead", round(rec["dead"][-1], 3))
'''
