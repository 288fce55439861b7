NAME = 'linear probe with noise augmentation on a pretrained token mixer'
FAULT = 'the backbone is not optimised, yet the loss is backpropagated through all of it (no no_grad, requires_grad left on)'
CURE = 'compute the backbone features under torch.no_grad()'
KIND = 'time'
FAULT_LINES = ['loss.backward()', 'feats = backbone(xb + 0.1 * torch.randn_like(xb))']
FAULT_CALLS = ['Tensor.backward', 'loss.backward', 'torch.autograd.backward', 'AddmmBackward0', 'aten::mm']
FAULTY = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
P, D, C = 16, 192, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.tok = nn.Sequential(nn.Linear(P, 4 * P), nn.ReLU(), nn.Linear(4 * P, P))
        self.ch = nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.tok(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.ch(self.n2(x))


class Mixer(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])

    def forward(self, x):
        return self.blocks(x).mean(1)


backbone = Mixer()                      # stands in for the checkpoint of the SSL run
backbone.eval()
head = nn.Linear(D, C)
opt = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)

n = 768
y = torch.randint(0, C, (n,))
X = torch.randn(C, P, D)[y] + 2.0 * torch.randn(n, P, D)

for epoch in range(4):
    hits = 0
    for idx in torch.randperm(n).split(64):
        xb, yb = X[idx], y[idx]
        feats = backbone(xb + 0.1 * torch.randn_like(xb))
        logits = head(feats)
        loss = F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == yb).sum().item()
    print(f"probe epoch {epoch}: acc {hits / n:.3f}")
'''
CURED = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
P, D, C = 16, 192, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.tok = nn.Sequential(nn.Linear(P, 4 * P), nn.ReLU(), nn.Linear(4 * P, P))
        self.ch = nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.tok(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.ch(self.n2(x))


class Mixer(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])

    def forward(self, x):
        return self.blocks(x).mean(1)


backbone = Mixer()                      # stands in for the checkpoint of the SSL run
backbone.eval()
head = nn.Linear(D, C)
opt = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)

n = 768
y = torch.randint(0, C, (n,))
X = torch.randn(C, P, D)[y] + 2.0 * torch.randn(n, P, D)

for epoch in range(4):
    hits = 0
    for idx in torch.randperm(n).split(64):
        xb, yb = X[idx], y[idx]
        with torch.no_grad():
            feats = backbone(xb + 0.1 * torch.randn_like(xb))
        logits = head(feats)
        loss = F.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == yb).sum().item()
    print(f"probe epoch {epoch}: acc {hits / n:.3f}")
'''
