NAME = 'Distils a trained teacher CNN into a small student on freshly mixed and shifted images.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'The frozen teacher runs in every step, but its inputs are new random mixtures each time, so its outputs cannot be cached; it already runs in eval mode without gradients.'
GOOD = r"""
import torch
from torch import nn
import torch.nn.functional as F
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(55)

# synthetic 10-class 'glyphs': random prototypes, shifted, scaled, noisy
protos = F.interpolate(torch.randn(10, 1, 6, 6), size=20, mode='bicubic')

def glyphs(n):
    y = torch.randint(0, 10, (n,))
    img = protos[y] * (0.6 + 0.8 * torch.rand(n, 1, 1, 1))
    return img + 1.0 * torch.randn_like(img), y

def random_shift(x, m=2):
    dy, dx = torch.randint(-m, m + 1, (2,)).tolist()
    return torch.roll(x, (dy, dx), (2, 3))

def cnn(w):
    return nn.Sequential(
        nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(2 * w, 2 * w, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(2 * w, 10))

X, Y = glyphs(1600)
Xv, Yv = glyphs(600)

@torch.no_grad()
def accuracy(net):
    net.eval()
    return torch.cat([net(b).argmax(1) for b in Xv.split(200)]).eq(Yv).float().mean().item()

# ------------------------------------------------ teacher
teacher = cnn(32)
opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
for epoch in range(3):
    teacher.train()
    for idx in torch.randperm(len(X)).split(50):
        loss = F.cross_entropy(teacher(random_shift(X[idx])), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'teacher epoch {epoch}: loss {loss.item():.4f} acc {accuracy(teacher):.4f}')
teacher.eval().requires_grad_(False)

# ------------------------------------------------ student
student = cnn(10)
opt = torch.optim.Adam(student.parameters(), lr=4e-3)
beta = torch.distributions.Beta(0.6, 0.6)
TEMP, log = 3.0, []
for epoch in range(4):
    student.train()
    for idx in torch.randperm(len(X)).split(50):
        x, y = random_shift(X[idx]), Y[idx]
        lam = beta.sample((len(x), 1, 1, 1))
        x = lam * x + (1 - lam) * x[torch.randperm(len(x))] + 0.2 * torch.randn_like(x)
        with torch.no_grad():
            soft = F.softmax(teacher(x) / TEMP, dim=1)
        logp = F.log_softmax(student(x) / TEMP, dim=1)
        loss = F.kl_div(logp, soft, reduction='batchmean') * TEMP ** 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    print(f'student epoch {epoch}: kd loss {sum(log[-32:]) / 32:.4f} acc {accuracy(student):.4f}')

n = lambda m: sum(p.numel() for p in m.parameters())
print(f'teacher {n(teacher)} parameters, student {n(student)} parameters')
with torch.no_grad():
    agree = (student(Xv).argmax(1) == teacher(Xv).argmax(1)).float().mean().item()
print('agreement on validation', round(agree, 4))
plt.plot(log)
plt.ylabel('distillation loss')
plt.show()
"""
