NAME = 'Trains a wide network on small textures and averages the weights of the three epochs with the lowest validation loss.'
FAULT = 'A deep copy of the weights of every epoch is kept until the end, though only the three best are averaged.'
CURE = 'After each epoch, keep only the three best snapshots so far.'
KIND = 'memory'
FAULT_LINES = ['snapshots.append((val_loss, epoch, copy.deepcopy(model.state_dict())))', 'best = sorted(snapshots, key=lambda s: s[:2])[:SOUP]', 'snapshots = []']
FAULT_CALLS = ['deepcopy', 'copy.deepcopy', 'append', 'state_dict', 'clone']
FAULTY = r"""import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)
IMG, CLASSES, EPOCHS, BATCH, SOUP = 32, 6, 26, 128, 3


def make_textures(n):
    grid = torch.linspace(0, 1, IMG)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    tint = torch.tensor([[1.0, .4, .2], [.3, 1.0, .5], [.2, .5, 1.0], [.8, .8, .2], [.6, .2, .9], [.5, .5, .5]])
    y = torch.randint(CLASSES, (n,))
    angle = torch.rand(n, 1, 1) * 0.6 + y[:, None, None] * 0.5
    wave = torch.sin((12 + 3 * y[:, None, None]) * (xx * angle.cos() + yy * angle.sin()) + 6 * torch.rand(n, 1, 1))
    x = wave[:, None] * tint[y][:, :, None, None]
    return x + 0.9 * torch.randn(n, 3, IMG, IMG), y


class WideNet(nn.Module):
    def __init__(self):
        super().__init__()
        dims = [3 * IMG * IMG, 1024, 1536, 1024]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(dims, dims[1:])])
        self.norms = nn.ModuleList([nn.LayerNorm(d) for d in dims[1:]])
        self.head = nn.Linear(dims[-1], CLASSES)

    def forward(self, x):
        x = x.flatten(1)
        for layer, norm in zip(self.layers, self.norms):
            x = F.dropout(F.relu(norm(layer(x))), 0.2, self.training)
        return self.head(x)


def augment(x):
    if torch.rand(1) < 0.5:
        x = x.flip(3)
    dx, dy = torch.randint(-3, 4, (2,)).tolist()
    return x.roll((dy, dx), dims=(2, 3))


def run_epoch(model, opt, x, y):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(BATCH):
        loss = F.cross_entropy(model(augment(x[idx])), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / len(x)


@torch.no_grad()
def validate(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def average(states):
    return {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}


train_x, train_y = make_textures(640)
val_x, val_y = make_textures(400)
test_x, test_y = make_textures(400)
model = WideNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)

snapshots = []
for epoch in range(EPOCHS):
    train_loss = run_epoch(model, opt, train_x, train_y)
    sched.step()
    val_loss, val_acc = validate(model, val_x, val_y)
    snapshots.append((val_loss, epoch, copy.deepcopy(model.state_dict())))
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  train {train_loss:.4f}  val loss {val_loss:.4f}  val acc {val_acc:.3f}")

best = sorted(snapshots, key=lambda s: s[:2])[:SOUP]
print("last epoch on test: loss %.4f acc %.3f" % validate(model, test_x, test_y))
model.load_state_dict(average([s[2] for s in best]))
print("soup of epochs", [s[1] for s in best], "on test: loss %.4f acc %.3f" % validate(model, test_x, test_y))
"""
CURED = r"""import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)
IMG, CLASSES, EPOCHS, BATCH, SOUP = 32, 6, 26, 128, 3


def make_textures(n):
    grid = torch.linspace(0, 1, IMG)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    tint = torch.tensor([[1.0, .4, .2], [.3, 1.0, .5], [.2, .5, 1.0], [.8, .8, .2], [.6, .2, .9], [.5, .5, .5]])
    y = torch.randint(CLASSES, (n,))
    angle = torch.rand(n, 1, 1) * 0.6 + y[:, None, None] * 0.5
    wave = torch.sin((12 + 3 * y[:, None, None]) * (xx * angle.cos() + yy * angle.sin()) + 6 * torch.rand(n, 1, 1))
    x = wave[:, None] * tint[y][:, :, None, None]
    return x + 0.9 * torch.randn(n, 3, IMG, IMG), y


class WideNet(nn.Module):
    def __init__(self):
        super().__init__()
        dims = [3 * IMG * IMG, 1024, 1536, 1024]
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(dims, dims[1:])])
        self.norms = nn.ModuleList([nn.LayerNorm(d) for d in dims[1:]])
        self.head = nn.Linear(dims[-1], CLASSES)

    def forward(self, x):
        x = x.flatten(1)
        for layer, norm in zip(self.layers, self.norms):
            x = F.dropout(F.relu(norm(layer(x))), 0.2, self.training)
        return self.head(x)


def augment(x):
    if torch.rand(1) < 0.5:
        x = x.flip(3)
    dx, dy = torch.randint(-3, 4, (2,)).tolist()
    return x.roll((dy, dx), dims=(2, 3))


def run_epoch(model, opt, x, y):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(BATCH):
        loss = F.cross_entropy(model(augment(x[idx])), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / len(x)


@torch.no_grad()
def validate(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def average(states):
    return {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}


train_x, train_y = make_textures(640)
val_x, val_y = make_textures(400)
test_x, test_y = make_textures(400)
model = WideNet()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)

snapshots = []
for epoch in range(EPOCHS):
    train_loss = run_epoch(model, opt, train_x, train_y)
    sched.step()
    val_loss, val_acc = validate(model, val_x, val_y)
    snapshots.append((val_loss, epoch, copy.deepcopy(model.state_dict())))
    snapshots = sorted(snapshots, key=lambda s: s[:2])[:SOUP]
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  train {train_loss:.4f}  val loss {val_loss:.4f}  val acc {val_acc:.3f}")

best = sorted(snapshots, key=lambda s: s[:2])[:SOUP]
print("last epoch on test: loss %.4f acc %.3f" % validate(model, test_x, test_y))
model.load_state_dict(average([s[2] for s in best]))
print("soup of epochs", [s[1] for s in best], "on test: loss %.4f acc %.3f" % validate(model, test_x, test_y))
"""
