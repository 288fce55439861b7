NAME = 'Distillation of a wide teacher into a narrow student on mixed-up chemical fingerprints'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'The frozen teacher runs at every student step, which looks cacheable, but it sees freshly mixed and noised inputs each time; it already runs without a graph'
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(50)
rng = np.random.default_rng(50)

N, BITS, CLASSES = 5120, 512, 12
TEMP, ALPHA = 3.0, 0.3

# fingerprints: class-dependent bit probabilities plus shared scaffolds
proto = rng.beta(0.3, 1.2, (CLASSES, BITS))
scaffold = rng.beta(0.3, 1.0, (30, BITS))
label = rng.integers(0, CLASSES, N)
prob = 0.55 * proto[label] + 0.45 * scaffold[rng.integers(0, 30, N)]
bits = (rng.random((N, BITS)) < prob).astype(np.float32)
noisy = label.copy()
flip = rng.random(N) < 0.1
noisy[flip] = rng.integers(0, CLASSES, flip.sum())

X = torch.from_numpy(bits)
Y = torch.from_numpy(noisy)
clean = torch.from_numpy(label)
tr, te = slice(0, 4096), slice(4096, N)


def mlp(width, depth):
    dims = [BITS] + [width] * depth
    layers = []
    for a, b in zip(dims[:-1], dims[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(dims[-1], CLASSES))


def accuracy(model):
    model.eval()
    with torch.inference_mode():
        return (model(X[te]).argmax(1) == clean[te]).float().mean().item()


teacher = mlp(768, 3)
opt = torch.optim.SGD(teacher.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(4):
    for idx in torch.randperm(4096).split(512):
        loss = F.cross_entropy(teacher(X[tr][idx]), Y[tr][idx], label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"teacher accuracy {accuracy(teacher):.4f}")
teacher.eval().requires_grad_(False)

student = mlp(256, 2)
opt = torch.optim.SGD(student.parameters(), lr=0.08, momentum=0.9)
beta = torch.distributions.Beta(0.4, 0.4)


def mixed_batch(idx):
    x, y = X[tr][idx], Y[tr][idx]
    lam = beta.sample((len(idx), 1))
    order = torch.randperm(len(idx))
    x = lam * x + (1 - lam) * x[order]
    x = x + 0.05 * torch.randn_like(x)
    return x, y, y[order], lam.squeeze(1)


for epoch in range(10):
    student.train()
    kd_sum = ce_sum = 0.0
    for idx in torch.randperm(4096).split(512):
        x, ya, yb, lam = mixed_batch(idx)
        with torch.no_grad():
            soft = F.softmax(teacher(x) / TEMP, dim=1)
        out = student(x)
        kd = F.kl_div(F.log_softmax(out / TEMP, dim=1), soft, reduction="batchmean") * TEMP ** 2
        ce = (lam * F.cross_entropy(out, ya, reduction="none")
              + (1 - lam) * F.cross_entropy(out, yb, reduction="none")).mean()
        loss = (1 - ALPHA) * kd + ALPHA * ce
        opt.zero_grad()
        loss.backward()
        opt.step()
        kd_sum += kd.item() / 8
        ce_sum += ce.item() / 8
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1:2d}  kd {kd_sum:.4f}  ce {ce_sum:.4f}  student accuracy {accuracy(student):.4f}")
"""
