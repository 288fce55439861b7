NAME = 'd18_weight_averaging'
FAULT = 'A full copy of the weights is kept for every averaged iterate and the mean is taken at the end.'
CURE = 'Keep one running sum of the weights and divide at the end.'
KIND = 'memory'
FAULT_LINES = (31,)
FAULT_CALLS = ('clone', 'append', '<dictcomp>')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)

n, d = 6000, 128
X = torch.randn(n, d)
teacher = nn.Sequential(nn.Linear(d, 32), nn.Tanh(), nn.Linear(32, 10))
with torch.no_grad():
    y = (teacher(X) + 0.3 * torch.randn(n, 10)).argmax(1)
Xtr, ytr, Xte, yte = X[:5000], y[:5000], X[5000:], y[5000:]

student = nn.Sequential(
    nn.Linear(d, 768), nn.ReLU(),
    nn.Linear(768, 768), nn.ReLU(),
    nn.Linear(768, 10),
)
opt = torch.optim.SGD(student.parameters(), lr=0.08, momentum=0.9)

snapshots = []
steps_per_epoch = 40
for epoch in range(13):
    perm = torch.randperm(len(Xtr))
    for b, idx in enumerate(perm.split(125)):
        loss = F.cross_entropy(student(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch >= 6 and b % 2 == 0:
            snapshots.append({k: v.detach().clone() for k, v in student.state_dict().items()})

averaged = {k: sum(s[k] for s in snapshots) / len(snapshots) for k in snapshots[0]}


def accuracy(model):
    with torch.no_grad():
        return (model(Xte).argmax(1) == yte).float().mean().item()


last = accuracy(student)
student.load_state_dict(averaged)
print("snapshots", len(snapshots), "last %.3f averaged %.3f" % (last, accuracy(student)))
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)

n, d = 6000, 128
X = torch.randn(n, d)
teacher = nn.Sequential(nn.Linear(d, 32), nn.Tanh(), nn.Linear(32, 10))
with torch.no_grad():
    y = (teacher(X) + 0.3 * torch.randn(n, 10)).argmax(1)
Xtr, ytr, Xte, yte = X[:5000], y[:5000], X[5000:], y[5000:]

student = nn.Sequential(
    nn.Linear(d, 768), nn.ReLU(),
    nn.Linear(768, 768), nn.ReLU(),
    nn.Linear(768, 10),
)
opt = torch.optim.SGD(student.parameters(), lr=0.08, momentum=0.9)

running = {k: torch.zeros_like(v) for k, v in student.state_dict().items()}
count = 0
steps_per_epoch = 40
for epoch in range(13):
    perm = torch.randperm(len(Xtr))
    for b, idx in enumerate(perm.split(125)):
        loss = F.cross_entropy(student(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch >= 6 and b % 2 == 0:
            for k, v in student.state_dict().items():
                running[k] += v
            count += 1

averaged = {k: v / count for k, v in running.items()}


def accuracy(model):
    with torch.no_grad():
        return (model(Xte).argmax(1) == yte).float().mean().item()


last = accuracy(student)
student.load_state_dict(averaged)
print("snapshots", count, "last %.3f averaged %.3f" % (last, accuracy(student)))
"""
