NAME = 'Two-task network with projected conflicting gradients'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = "Two gradient passes over one graph with retain_graph=True look like a doubled backward, but each task's own gradient is needed, because they are normalised and projected before they are combined."
GOOD = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)


def make_data(n, d=40):
    x = torch.randn(n, d)
    w1, w2 = torch.randn(d, 16), torch.randn(d, 16)
    h = torch.tanh(x @ w1 / d ** 0.5)
    dose = (h[:, :8].sum(1) + 0.5 * h[:, 8:].prod(1)).unsqueeze(1)
    label = (torch.sin(x @ w2 / d ** 0.5).sum(1) - 0.9 * dose.squeeze(1) > 0).long()
    return x, 40 * dose, label  # dose in milligrams


x, dose, label = make_data(24_000)
x_tr, dose_tr, lab_tr = x[:20_000], dose[:20_000], label[:20_000]
x_te, dose_te, lab_te = x[20_000:], dose[20_000:], label[20_000:]


class TwoHead(nn.Module):
    def __init__(self, d_in, width=192):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(d_in, width), nn.GELU(), nn.LayerNorm(width),
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width),
        )
        self.reg = nn.Linear(width, 1)
        self.cls = nn.Linear(width, 2)

    def forward(self, x):
        h = self.trunk(x)
        return self.reg(h), self.cls(h)


model = TwoHead(x.shape[1])
shared = list(model.trunk.parameters())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)


def unit(grads):
    norm = torch.stack([g.norm() for g in grads]).norm() + 1e-12
    return [g / norm for g in grads]


conflicts = steps = 0
for epoch in range(14):
    for idx in torch.randperm(len(x_tr)).split(200):
        pred, logits = model(x_tr[idx])
        l_reg = F.mse_loss(pred, dose_tr[idx])
        l_cls = F.cross_entropy(logits, lab_tr[idx])

        g_reg = torch.autograd.grad(l_reg, shared + list(model.reg.parameters()), retain_graph=True)
        g_cls = torch.autograd.grad(l_cls, shared + list(model.cls.parameters()))
        k = len(shared)
        a, b = unit(g_reg[:k]), unit(g_cls[:k])
        dot = sum((p * q).sum() for p, q in zip(a, b))
        steps += 1
        if dot < 0:
            conflicts += 1
            a, b = [p - dot * q for p, q in zip(a, b)], [q - dot * p for p, q in zip(a, b)]
        for p, u, v in zip(shared, a, b):
            p.grad = u + v
        for p, g in zip(model.reg.parameters(), g_reg[k:]):
            p.grad = g
        for p, g in zip(model.cls.parameters(), g_cls[k:]):
            p.grad = g
        opt.step()

    with torch.no_grad():
        pred, logits = model(x_te)
        r2 = 1 - F.mse_loss(pred, dose_te) / dose_te.var()
        acc = (logits.argmax(1) == lab_te).float().mean()
    print(f"epoch {epoch}  R2 {r2.item():.4f}  acc {acc.item():.4f}  conflicts {conflicts}/{steps}")
"""
