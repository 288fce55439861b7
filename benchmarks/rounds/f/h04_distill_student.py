NAME = 'h04_distill_student'
FAULT = 'The teacher is run with autograd recording and its soft targets are not detached, so every backward also goes through the whole teacher and fills gradients nobody uses (the optimizer holds only the student).'
CURE = 'Run the teacher forward under torch.no_grad().'
KIND = 'time'
FAULT_LINES = [
    '        t_logits = teacher(xb)',
    '        loss = distill_loss(s_logits, t_logits, yb)',
    '        loss.backward()',
]
FAULT_CALLS = ['aten::convolution_backward', 'loss.backward', 'torch.Tensor.backward', 'teacher.forward', 'aten::native_batch_norm_backward']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(42)

# toy fabric swatches: class dependent weave frequency
N, C = 640, 8
y = torch.randint(0, C, (N,))
grid = torch.linspace(-1, 1, 32)
gy, gx = torch.meshgrid(grid, grid, indexing='ij')
freq = (4 + 4 * y.float())[:, None, None]
phase = 6.283 * torch.rand(2, N, 1, 1)
weave = torch.sin(freq * gx + phase[0]) * torch.sin(0.5 * freq * gy + phase[1])
x = weave[:, None] * torch.rand(N, 3, 1, 1) + 0.3 * torch.randn(N, 3, 32, 32)

def block(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
                         nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 32), block(32, 32), block(32, 64, 2),
                                  block(64, 64), block(64, 96, 2))
        self.fc = nn.Linear(96, C)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))

class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 16, 2), block(16, 32, 2), block(32, 32))
        self.fc = nn.Linear(32, C)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))

def distill_loss(s, t, target, T=3.0, alpha=0.7):
    soft = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction='batchmean')
    return alpha * T * T * soft + (1 - alpha) * F.cross_entropy(s, target)

def augment(xb):
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    xb = torch.roll(xb, (dy, dx), dims=(2, 3))
    return xb + 0.1 * torch.randn_like(xb)

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

teacher = Teacher()
t_opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for xb, yb in loader:
    t_loss = F.cross_entropy(teacher(xb), yb)
    t_opt.zero_grad()
    t_loss.backward()
    t_opt.step()
teacher.eval()
print(f"teacher warm-up loss {t_loss.item():.3f}")

student = Student()
opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)

for epoch in range(4):
    student.train()
    total, correct = 0.0, 0
    for xb, yb in loader:
        xb = augment(xb)
        t_logits = teacher(xb)
        s_logits = student(xb)
        loss = distill_loss(s_logits, t_logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
        correct += (s_logits.argmax(1) == yb).sum().item()
    print(f"epoch {epoch}  kd loss {total / N:.4f}  train acc {correct / N:.3f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(42)

# toy fabric swatches: class dependent weave frequency
N, C = 640, 8
y = torch.randint(0, C, (N,))
grid = torch.linspace(-1, 1, 32)
gy, gx = torch.meshgrid(grid, grid, indexing='ij')
freq = (4 + 4 * y.float())[:, None, None]
phase = 6.283 * torch.rand(2, N, 1, 1)
weave = torch.sin(freq * gx + phase[0]) * torch.sin(0.5 * freq * gy + phase[1])
x = weave[:, None] * torch.rand(N, 3, 1, 1) + 0.3 * torch.randn(N, 3, 32, 32)

def block(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
                         nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 32), block(32, 32), block(32, 64, 2),
                                  block(64, 64), block(64, 96, 2))
        self.fc = nn.Linear(96, C)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))

class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 16, 2), block(16, 32, 2), block(32, 32))
        self.fc = nn.Linear(32, C)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))

def distill_loss(s, t, target, T=3.0, alpha=0.7):
    soft = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction='batchmean')
    return alpha * T * T * soft + (1 - alpha) * F.cross_entropy(s, target)

def augment(xb):
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    xb = torch.roll(xb, (dy, dx), dims=(2, 3))
    return xb + 0.1 * torch.randn_like(xb)

loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

teacher = Teacher()
t_opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for xb, yb in loader:
    t_loss = F.cross_entropy(teacher(xb), yb)
    t_opt.zero_grad()
    t_loss.backward()
    t_opt.step()
teacher.eval()
print(f"teacher warm-up loss {t_loss.item():.3f}")

student = Student()
opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)

for epoch in range(4):
    student.train()
    total, correct = 0.0, 0
    for xb, yb in loader:
        xb = augment(xb)
        with torch.no_grad():
            t_logits = teacher(xb)
        s_logits = student(xb)
        loss = distill_loss(s_logits, t_logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
        correct += (s_logits.argmax(1) == yb).sum().item()
    print(f"epoch {epoch}  kd loss {total / N:.4f}  train acc {correct / N:.3f}")
'''
