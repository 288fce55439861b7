NAME = 'semi-supervised training with pseudo labels from the second epoch on'
FAULT = 'after the first epoch the frozen teacher labels the whole unlabelled pool anew for every batch, though it changes only once per epoch'
CURE = 'compute the pseudo labels once per epoch, right after the teacher snapshot'
KIND = 'time'
FAULT_LINES = ['pl, conf = pseudo_label(teacher, pool)', 'prob = teacher(x).softmax(-1)']
FAULT_CALLS = ['pseudo_label', 'teacher', 'nn.Linear', 'aten::addmm', 'Tensor.softmax']
FAULTY = '''
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
D, C, N_LAB, N_POOL = 64, 10, 1500, 6000
mu = torch.randn(C, D)
y = torch.randint(0, C, (N_LAB,))
X = mu[y] + 2.2 * torch.randn(N_LAB, D)
pool_y = torch.randint(0, C, (N_POOL,))
pool = mu[pool_y] + 2.2 * torch.randn(N_POOL, D)

student = nn.Sequential(nn.Linear(D, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, C))
opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)


@torch.no_grad()
def pseudo_label(teacher, x):
    prob = teacher(x).softmax(-1)
    conf, pl = prob.max(-1)
    return pl, conf


teacher = None
for epoch in range(6):
    running = 0.0
    for idx in torch.randperm(N_LAB).split(60):
        loss = F.cross_entropy(student(X[idx]), y[idx])
        if teacher is not None:
            pl, conf = pseudo_label(teacher, pool)
            u = torch.randint(0, N_POOL, (180,))
            w = (conf[u] > 0.8).float()
            noisy = pool[u] + 0.3 * torch.randn(len(u), D)
            loss = loss + (w * F.cross_entropy(student(noisy), pl[u], reduction="none")).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    teacher = copy.deepcopy(student).eval().requires_grad_(False)
    with torch.no_grad():
        acc = (student(pool).argmax(1) == pool_y).float().mean().item()
    print(f"epoch {epoch}: loss {running / 25:.3f}  pool acc {acc:.3f}")
'''
CURED = '''
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
D, C, N_LAB, N_POOL = 64, 10, 1500, 6000
mu = torch.randn(C, D)
y = torch.randint(0, C, (N_LAB,))
X = mu[y] + 2.2 * torch.randn(N_LAB, D)
pool_y = torch.randint(0, C, (N_POOL,))
pool = mu[pool_y] + 2.2 * torch.randn(N_POOL, D)

student = nn.Sequential(nn.Linear(D, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, C))
opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)


@torch.no_grad()
def pseudo_label(teacher, x):
    prob = teacher(x).softmax(-1)
    conf, pl = prob.max(-1)
    return pl, conf


teacher = None
for epoch in range(6):
    running = 0.0
    for idx in torch.randperm(N_LAB).split(60):
        loss = F.cross_entropy(student(X[idx]), y[idx])
        if teacher is not None:
            u = torch.randint(0, N_POOL, (180,))
            w = (conf[u] > 0.8).float()
            noisy = pool[u] + 0.3 * torch.randn(len(u), D)
            loss = loss + (w * F.cross_entropy(student(noisy), pl[u], reduction="none")).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    teacher = copy.deepcopy(student).eval().requires_grad_(False)
    pl, conf = pseudo_label(teacher, pool)
    with torch.no_grad():
        acc = (student(pool).argmax(1) == pool_y).float().mean().item()
    print(f"epoch {epoch}: loss {running / 25:.3f}  pool acc {acc:.3f}")
'''
