NAME = 'Adapts a frozen residual MLP scorer for ticket embeddings to a new customer with low-rank adapters.'
FAULT = 'The adapter forms the full-size product B @ A and a full updated weight in every forward pass, so autograd also has to compute full weight gradients.'
CURE = 'Apply the frozen weight and the two thin matrices to the input separately.'
KIND = 'time'
FAULT_LINES = ['weight = self.base.weight + self.scale * (self.B @ self.A)', 'return F.linear(x, weight, self.base.bias)', 'loss.backward()']
FAULT_CALLS = ['forward', 'matmul', 'mm', 'linear', 'add', 'mul', 'backward', 'MmBackward0', 'MulBackward0']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(29)

DIM, DEPTH, CLASSES, RANK = 768, 4, 20, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up = nn.Linear(DIM, DIM)
        self.down = nn.Linear(DIM, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(x))


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha=16.0):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        weight = self.base.weight + self.scale * (self.B @ self.A)
        return F.linear(x, weight, self.base.bias)


def add_adapters(model, rank):
    for p in model.blocks.parameters():
        p.requires_grad_(False)
    for block in model.blocks:
        block.up = LoRALinear(block.up, rank)
        block.down = LoRALinear(block.down, rank)
    return [p for p in model.parameters() if p.requires_grad]


topics = torch.randn(CLASSES, DIM)
rotation = torch.linalg.qr(torch.randn(DIM, DIM)).Q


def tickets(n, rotated):
    y = torch.randint(0, CLASSES, (n,))
    x = 0.25 * topics[y] + torch.randn(n, DIM)
    return (x @ rotation if rotated else x), y


def fit(model, params, rotated, steps, lr, tag):
    opt = torch.optim.AdamW(params, lr=lr)
    running = 0.0
    for step in range(1, steps + 1):
        x, y = tickets(56, rotated)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % (steps // 2) == 0:
            print(f"{tag} step {step}: mean loss {running / (steps // 2):.2f}")
            running = 0.0


model = Scorer()
fit(model, list(model.parameters()), rotated=False, steps=20, lr=3e-4, tag="pretrain")
params = add_adapters(model, RANK)
print("trainable parameters", sum(p.numel() for p in params))
fit(model, params, rotated=True, steps=300, lr=1e-3, tag="adapt")

with torch.no_grad():
    x, y = tickets(2000, rotated=True)
    acc = (model(x).argmax(1) == y).float().mean().item()
print(f"accuracy on the new customer {acc:.2f}")
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(29)

DIM, DEPTH, CLASSES, RANK = 768, 4, 20, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up = nn.Linear(DIM, DIM)
        self.down = nn.Linear(DIM, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(x))


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha=16.0):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.A), self.B)


def add_adapters(model, rank):
    for p in model.blocks.parameters():
        p.requires_grad_(False)
    for block in model.blocks:
        block.up = LoRALinear(block.up, rank)
        block.down = LoRALinear(block.down, rank)
    return [p for p in model.parameters() if p.requires_grad]


topics = torch.randn(CLASSES, DIM)
rotation = torch.linalg.qr(torch.randn(DIM, DIM)).Q


def tickets(n, rotated):
    y = torch.randint(0, CLASSES, (n,))
    x = 0.25 * topics[y] + torch.randn(n, DIM)
    return (x @ rotation if rotated else x), y


def fit(model, params, rotated, steps, lr, tag):
    opt = torch.optim.AdamW(params, lr=lr)
    running = 0.0
    for step in range(1, steps + 1):
        x, y = tickets(56, rotated)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
        if step % (steps // 2) == 0:
            print(f"{tag} step {step}: mean loss {running / (steps // 2):.2f}")
            running = 0.0


model = Scorer()
fit(model, list(model.parameters()), rotated=False, steps=20, lr=3e-4, tag="pretrain")
params = add_adapters(model, RANK)
print("trainable parameters", sum(p.numel() for p in params))
fit(model, params, rotated=True, steps=300, lr=1e-3, tag="adapt")

with torch.no_grad():
    x, y = tickets(2000, rotated=True)
    acc = (model(x).argmax(1) == y).float().mean().item()
print(f"accuracy on the new customer {acc:.2f}")
'''
