NAME = 'Sharpness-aware minimisation of a residual MLP for keystroke dynamics'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'Two forward and two backward passes on the same batch and the stored perturbations look doubled, but SAM takes its gradient at the perturbed weights, which needs the first gradient'
GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(88)

USERS, TOKENS, FEAT = 20, 16, 32


def keystrokes(n, gen, centres, rhythm):
    y = torch.randint(0, USERS, (n,), generator=gen)
    x = centres[y] + rhythm[y][:, :, None] * torch.randn(n, TOKENS, 1, generator=gen)
    return x + 1.6 * torch.randn(n, TOKENS, FEAT, generator=gen), y


class ResBlock(nn.Module):
    def __init__(self, dim, expand=3):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, expand * dim), nn.ReLU(), nn.Linear(expand * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class KeyNet(nn.Module):
    def __init__(self, dim=288, depth=2):
        super().__init__()
        self.inp = nn.Linear(TOKENS * FEAT, dim)
        self.blocks = nn.Sequential(*[ResBlock(dim) for _ in range(depth)])
        self.out = nn.Linear(dim, USERS)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x.flatten(1))))


class SAM:
    def __init__(self, params, rho, **kw):
        self.params = [p for p in params if p.requires_grad]
        self.rho = rho
        self.base = torch.optim.SGD(self.params, **kw)

    @torch.no_grad()
    def ascend(self):
        grads = [p.grad for p in self.params]
        norm = torch.stack(torch._foreach_norm(grads)).norm()
        self.eps = torch._foreach_mul(grads, (self.rho / (norm + 1e-12)).item())
        torch._foreach_add_(self.params, self.eps)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        torch._foreach_sub_(self.params, self.eps)
        self.base.step()
        self.base.zero_grad()


gen = torch.Generator().manual_seed(4)
centres = 0.35 * torch.randn(USERS, TOKENS, FEAT, generator=gen)
rhythm = torch.rand(USERS, TOKENS, generator=gen)
Xtr, Ytr = keystrokes(4096, gen, centres, rhythm)
Xte, Yte = keystrokes(768, gen, centres, rhythm)

net = KeyNet()
opt = SAM(net.parameters(), rho=0.05, lr=0.05, momentum=0.9, fused=True)
for epoch in range(1, 8):
    first = second = 0.0
    for idx in torch.randperm(len(Xtr), generator=gen).split(1024):
        x, y = Xtr[idx], Ytr[idx]
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.ascend()
        sharp = F.cross_entropy(net(x), y)
        sharp.backward()
        opt.descend()
        first += loss.item() / 4
        second += sharp.item() / 4
    with torch.no_grad():
        acc = (net(Xte).argmax(1) == Yte).float().mean().item()
    print(f"epoch {epoch}  loss {first:.4f}  at perturbed weights {second:.4f}  test acc {acc:.4f}")
"""
