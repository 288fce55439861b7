NAME = 'distillation with a large frozen teacher that must see the freshly mixed inputs'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
D, C, N, BS = 128, 20, 2048, 128


def mlp(h, depth):
    layers = [nn.Linear(D, h), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(h, h), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(h, C))


teacher = mlp(1536, 3).eval().requires_grad_(False)
student = mlp(384, 2)
opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
y = torch.randint(0, C, (N,))
X = torch.randn(C, D)[y] + torch.randn(N, D)

for epoch in range(14):
    tot, steps = 0.0, 0
    for idx in torch.randperm(N).split(BS):
        lam = torch.rand(len(idx), 1)
        mixed = lam * X[idx] + (1 - lam) * X[idx[torch.randperm(len(idx))]]   # new mixtures at each step
        with torch.no_grad():
            soft = teacher(mixed)
        out = student(mixed)
        kd = F.kl_div(F.log_softmax(out / 2, 1), F.log_softmax(soft / 2, 1), log_target=True, reduction="batchmean")
        opt.zero_grad()
        kd.backward()
        opt.step()
        tot += kd.item(); steps += 1
    print(f"epoch {epoch}: kd {tot / steps:.5f}")
'''
