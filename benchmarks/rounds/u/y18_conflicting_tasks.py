NAME = 'Trains one network for three physical outputs of a damped oscillator, with gradient surgery (PCGrad) on the shared trunk.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "The shared trunk is run through backward once for each task with retain_graph=True, but gradient surgery needs each task's own gradient, which one backward of the summed loss cannot give; the graph is freed with the last task."

GOOD = r'''
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(9)
torch.manual_seed(9)

BATCH, STEPS, WIDTH, SAMPLES = 512, 420, 320, 20_000
TASKS = ("peak", "settling", "energy")


def oscillator(n):
    """Mass, damping, stiffness and impulse on one side, three response figures on the other."""
    mass = 0.5 + torch.rand(n)
    stiff = 1.0 + 9.0 * torch.rand(n)
    zeta = 0.05 + 0.6 * torch.rand(n)
    kick = 0.5 + torch.rand(n)
    nuisance = torch.randn(n, 4)
    omega = (stiff / mass).sqrt()
    ring = (1 - zeta ** 2).sqrt()
    t_peak = torch.atan2(ring, zeta) / (omega * ring)
    peak = kick / (mass * omega) * torch.exp(-zeta * omega * t_peak)
    settling = (4 / (zeta * omega)).log()
    energy = 0.5 * mass * (kick / mass) ** 2 * torch.exp(-2 * zeta * omega)
    x = torch.cat([torch.stack([mass, stiff, zeta, kick], dim=1), nuisance], dim=1)
    y = torch.stack([peak, settling, energy], dim=1)
    return (x - x.mean(0)) / x.std(0), (y - y.mean(0)) / y.std(0)


class Surrogate(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(8, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(),
            nn.Linear(WIDTH, WIDTH), nn.SiLU())
        self.heads = nn.ModuleList([
            nn.Sequential(nn.Linear(WIDTH, 32), nn.SiLU(), nn.Linear(32, 1)) for _ in TASKS])

    def forward(self, x):
        h = self.trunk(x)
        return [head(h).squeeze(1) for head in self.heads]


def surgery(rows):
    """Projects each task's gradient away from those it conflicts with; returns their sum."""
    gram = (rows @ rows.T).tolist()
    weights = torch.zeros(len(rows), len(rows))
    clashes = 0
    for i in range(len(rows)):
        w = [0.0] * len(rows)
        w[i] = 1.0
        others = [j for j in range(len(rows)) if j != i]
        random.shuffle(others)
        for j in others:
            dot = sum(w[k] * gram[k][j] for k in range(len(rows)))
            if dot < 0:
                w[j] -= dot / gram[j][j]
                clashes += 1
        weights[i] = torch.tensor(w)
    return weights.sum(0) @ rows, clashes


x_all, y_all = oscillator(SAMPLES)
x_train, y_train = x_all[:18_000], y_all[:18_000]
x_test, y_test = x_all[18_000:], y_all[18_000:]

net = Surrogate()
shared = list(net.trunk.parameters())
sizes = [p.numel() for p in shared]
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

clash_count = 0
for step in range(1, STEPS + 1):
    pick = torch.randint(0, len(x_train), (BATCH,))
    outputs = net(x_train[pick])
    target = y_train[pick]
    losses = [F.smooth_l1_loss(out, target[:, i]) for i, out in enumerate(outputs)]
    rows = []
    for i, loss in enumerate(losses):
        own = list(net.heads[i].parameters())
        grads = torch.autograd.grad(loss, shared + own, retain_graph=i < len(losses) - 1)
        rows.append(torch.cat([g.flatten() for g in grads[:len(shared)]]))
        for p, g in zip(own, grads[len(shared):]):
            p.grad = g
    merged, clashes = surgery(torch.stack(rows))
    clash_count += clashes
    for p, piece in zip(shared, merged.split(sizes)):
        p.grad = piece.view_as(p)
    opt.step()
    if step % 105 == 0:
        print(f"step {step}:", {t: round(l.item(), 3) for t, l in zip(TASKS, losses)})

with torch.no_grad():
    pred = torch.stack(net(x_test), dim=1)
    r2 = 1 - (pred - y_test).square().mean(0) / y_test.var(0)
print("R2:", {t: round(v, 3) for t, v in zip(TASKS, r2.tolist())}, "clashes:", clash_count)
'''
