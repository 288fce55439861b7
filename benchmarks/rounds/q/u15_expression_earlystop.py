NAME = 'Trains a tumour-type classifier on made-up gene expression profiles and tests the epoch with the best validation loss.'
FAULT = 'A full copy of the weights of every epoch is kept in a list although only the best epoch is used.'
CURE = 'Keep a copy of the weights only when the validation loss improves.'
KIND = 'memory'
FAULT_LINES = ['history.append({"epoch": epoch, "val": val_loss, "weights": copy.deepcopy(model.state_dict())})', 'best = min(history, key=lambda h: h["val"])']
FAULT_CALLS = ['copy.deepcopy', 'deepcopy', 'state_dict', 'append']
FAULTY = r'''import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

GENES, TYPES, PROGRAMS = 1200, 12, 20


def make_profiles(n, loadings, centres):
    kind = torch.randint(0, TYPES, (n,))
    activity = centres[kind] + 0.9 * torch.randn(n, PROGRAMS)
    counts = torch.poisson(torch.exp(0.6 + 0.35 * activity @ loadings))
    return torch.log1p(counts), kind


class ExpressionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(GENES, 1024), nn.LayerNorm(1024), nn.GELU(), nn.Dropout(0.3),
            nn.Linear(1024, 1024), nn.LayerNorm(1024), nn.GELU(), nn.Dropout(0.3))
        self.head = nn.Linear(1024, TYPES)

    def forward(self, x):
        return self.head(self.body(x))


loadings = torch.randn(PROGRAMS, GENES) * (torch.rand(PROGRAMS, GENES) < 0.1)
centres = 0.6 * torch.randn(TYPES, PROGRAMS)
x_train, y_train = make_profiles(800, loadings, centres)
x_val, y_val = make_profiles(300, loadings, centres)
x_test, y_test = make_profiles(600, loadings, centres)
mean, std = x_train.mean(0), x_train.std(0) + 0.1
x_train, x_val, x_test = ((x - mean) / std for x in (x_train, x_val, x_test))


def run_epoch(model, opt):
    model.train()
    for rows in torch.randperm(len(x_train)).split(100):
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()


@torch.no_grad()
def score(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


model = ExpressionNet()
opt = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, weight_decay=1e-3)
history = []
for epoch in range(60):
    run_epoch(model, opt)
    val_loss, val_acc = score(model, x_val, y_val)
    history.append({"epoch": epoch, "val": val_loss, "weights": copy.deepcopy(model.state_dict())})
    if epoch % 15 == 14:
        print(f"epoch {epoch:2d}  val loss {val_loss:.4f}  val acc {val_acc:.3f}")

best = min(history, key=lambda h: h["val"])
model.load_state_dict(best["weights"])
test_loss, test_acc = score(model, x_test, y_test)
print(f"best epoch {best['epoch']}  val loss {best['val']:.4f}  test loss {test_loss:.4f}  test acc {test_acc:.3f}")
'''
CURED = r'''import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

GENES, TYPES, PROGRAMS = 1200, 12, 20


def make_profiles(n, loadings, centres):
    kind = torch.randint(0, TYPES, (n,))
    activity = centres[kind] + 0.9 * torch.randn(n, PROGRAMS)
    counts = torch.poisson(torch.exp(0.6 + 0.35 * activity @ loadings))
    return torch.log1p(counts), kind


class ExpressionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(GENES, 1024), nn.LayerNorm(1024), nn.GELU(), nn.Dropout(0.3),
            nn.Linear(1024, 1024), nn.LayerNorm(1024), nn.GELU(), nn.Dropout(0.3))
        self.head = nn.Linear(1024, TYPES)

    def forward(self, x):
        return self.head(self.body(x))


loadings = torch.randn(PROGRAMS, GENES) * (torch.rand(PROGRAMS, GENES) < 0.1)
centres = 0.6 * torch.randn(TYPES, PROGRAMS)
x_train, y_train = make_profiles(800, loadings, centres)
x_val, y_val = make_profiles(300, loadings, centres)
x_test, y_test = make_profiles(600, loadings, centres)
mean, std = x_train.mean(0), x_train.std(0) + 0.1
x_train, x_val, x_test = ((x - mean) / std for x in (x_train, x_val, x_test))


def run_epoch(model, opt):
    model.train()
    for rows in torch.randperm(len(x_train)).split(100):
        loss = F.cross_entropy(model(x_train[rows]), y_train[rows], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()


@torch.no_grad()
def score(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


model = ExpressionNet()
opt = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, weight_decay=1e-3)
best = {"val": float("inf")}
for epoch in range(60):
    run_epoch(model, opt)
    val_loss, val_acc = score(model, x_val, y_val)
    if val_loss < best["val"]:
        best = {"epoch": epoch, "val": val_loss, "weights": copy.deepcopy(model.state_dict())}
    if epoch % 15 == 14:
        print(f"epoch {epoch:2d}  val loss {val_loss:.4f}  val acc {val_acc:.3f}")

model.load_state_dict(best["weights"])
test_loss, test_acc = score(model, x_test, y_test)
print(f"best epoch {best['epoch']}  val loss {best['val']:.4f}  test loss {test_loss:.4f}  test acc {test_acc:.3f}")
'''
