NAME = 'distilling a convolutional teacher'
FAULT = 'the teacher runs with gradients, so every backward also goes through the whole teacher, whose gradients nobody uses'
CURE = 'run the teacher under torch.no_grad()'
KIND = 'time'
FAULT_LINES = ['t = teacher(xb)', 'loss = distill_loss(xb, yb)', 'loss.backward()']
FAULT_CALLS = ['teacher', 'backward', 'distill_loss']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
N, SIDE, BATCH, STEPS, TAU = 1024, 20, 64, 130, 3.0
protos = torch.randn(10, 1, SIDE, SIDE)
labels = torch.randint(0, 10, (N,))
images = protos[labels] + 1.2 * torch.randn(N, 1, SIDE, SIDE)

teacher = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
                        nn.Conv2d(64, 128, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
student = nn.Sequential(nn.Conv2d(1, 8, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 48), nn.ReLU(), nn.Linear(48, 10))

def batches(steps):
    for _ in range(steps):
        idx = torch.randint(0, N, (BATCH,))
        yield images[idx], labels[idx]

opt_t = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for xb, yb in batches(20):
    loss = F.cross_entropy(teacher(xb), yb)
    opt_t.zero_grad()
    loss.backward()
    opt_t.step()
teacher.eval()

def distill_loss(xb, yb, mix=0.7):
    s = student(xb)
    t = teacher(xb)
    soft = F.kl_div(F.log_softmax(s / TAU, 1), F.softmax(t / TAU, 1), reduction="batchmean") * TAU ** 2
    return mix * soft + (1 - mix) * F.cross_entropy(s, yb)

opt_s = torch.optim.Adam(student.parameters(), lr=2e-3)
for xb, yb in batches(STEPS):
    loss = distill_loss(xb, yb)
    opt_s.zero_grad()
    loss.backward()
    opt_s.step()

with torch.no_grad():
    acc = (student(images).argmax(1) == labels).float().mean().item()
print("student accuracy", round(acc, 4), "last loss", round(loss.item(), 4))
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
N, SIDE, BATCH, STEPS, TAU = 1024, 20, 64, 130, 3.0
protos = torch.randn(10, 1, SIDE, SIDE)
labels = torch.randint(0, 10, (N,))
images = protos[labels] + 1.2 * torch.randn(N, 1, SIDE, SIDE)

teacher = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
                        nn.Conv2d(64, 128, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
student = nn.Sequential(nn.Conv2d(1, 8, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 48), nn.ReLU(), nn.Linear(48, 10))

def batches(steps):
    for _ in range(steps):
        idx = torch.randint(0, N, (BATCH,))
        yield images[idx], labels[idx]

opt_t = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for xb, yb in batches(20):
    loss = F.cross_entropy(teacher(xb), yb)
    opt_t.zero_grad()
    loss.backward()
    opt_t.step()
teacher.eval()

def distill_loss(xb, yb, mix=0.7):
    s = student(xb)
    with torch.no_grad():
        t = teacher(xb)
    soft = F.kl_div(F.log_softmax(s / TAU, 1), F.softmax(t / TAU, 1), reduction="batchmean") * TAU ** 2
    return mix * soft + (1 - mix) * F.cross_entropy(s, yb)

opt_s = torch.optim.Adam(student.parameters(), lr=2e-3)
for xb, yb in batches(STEPS):
    loss = distill_loss(xb, yb)
    opt_s.zero_grad()
    loss.backward()
    opt_s.step()

with torch.no_grad():
    acc = (student(images).argmax(1) == labels).float().mean().item()
print("student accuracy", round(acc, 4), "last loss", round(loss.item(), 4))
'''
