NAME = 'e19_distill_fresh'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(107)
torch.set_num_threads(1)

D_IN, N_CLASS = 160, 12


def mlp(width, depth):
    layers, d = [], D_IN
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.ReLU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, N_CLASS))


centres = torch.randn(N_CLASS, D_IN) * 0.5
warp = torch.randn(D_IN, D_IN) / D_IN ** 0.5


def draw(n):
    y = torch.randint(0, N_CLASS, (n,))
    x = centres[y] + torch.randn(n, D_IN)
    return x + 0.5 * torch.tanh(x @ warp), y


x_train, y_train = draw(4000)
x_test, y_test = draw(1500)

# a quickly fitted wide teacher
teacher = mlp(1200, 3)
opt = torch.optim.SGD(teacher.parameters(), lr=0.05, momentum=0.9)
for idx in torch.randperm(len(x_train)).split(128):
    loss = F.cross_entropy(teacher(x_train[idx]), y_train[idx])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
teacher.eval().requires_grad_(False)


class Distiller:
    """Student sees teacher probabilities on mixed and jittered inputs that never repeat."""

    def __init__(self, student, teacher, temperature=3.0):
        self.student, self.teacher, self.T = student, teacher, temperature
        self.opt = torch.optim.Adam(student.parameters(), lr=1e-3)

    def augment(self, x):
        lam = torch.rand(len(x), 1)
        x = lam * x + (1 - lam) * x[torch.randperm(len(x))]
        return x + 0.2 * torch.randn_like(x)

    def step(self, x):
        x = self.augment(x)
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.T, dim=1)
        logp = F.log_softmax(self.student(x) / self.T, dim=1)
        loss = F.kl_div(logp, soft, reduction="batchmean") * self.T ** 2
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()

    def accuracy(self, x, y):
        with torch.no_grad():
            return (self.student(x).argmax(1) == y).float().mean().item()


job = Distiller(mlp(192, 2), teacher)
for epoch in range(22):
    order = torch.randperm(len(x_train))
    losses = [job.step(x_train[i]) for i in order.split(200)]
    print(f"epoch {epoch}: kd loss {sum(losses) / len(losses):.4f}  test acc {job.accuracy(x_test, y_test):.4f}")
with torch.no_grad():
    print("teacher", (teacher(x_test).argmax(1) == y_test).float().mean().item())
'''
