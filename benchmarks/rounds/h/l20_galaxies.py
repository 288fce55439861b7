NAME = 'Trains a galaxy-morphology CNN with stochastic weight averaging.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'After training, a full pass over the training images in train mode throws its outputs away; it re-estimates the batch-norm statistics for the averaged weights, without which the average is useless.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(123)

# galaxy morphology toy: spirals / ellipticals / rings, 32 x 32, one band
N_TRAIN, N_TEST, SIDE = 1400, 600, 32
EPOCHS, START_AVERAGE = 12, 6

grid = torch.linspace(-1, 1, SIDE)
gy, gx = torch.meshgrid(grid, grid, indexing='ij')


def draw(n):
    kind = torch.randint(0, 3, (n,))
    angle = torch.rand(n, 1, 1) * 6.283
    q = 0.5 + 0.5 * torch.rand(n, 1, 1)
    u = gx * angle.cos() + gy * angle.sin()
    w = (gy * angle.cos() - gx * angle.sin()) / q
    r = torch.sqrt(u ** 2 + w ** 2) + 1e-3
    phi = torch.atan2(w, u)
    smooth = torch.exp(-4 * r)
    spiral = torch.exp(-2.5 * r) * (0.5 + 0.5 * torch.cos(2 * phi + 7 * torch.log(r + 0.1)))
    ring = 0.7 * torch.exp(-((r - 0.5) / 0.12) ** 2) + 0.3 * smooth
    img = torch.stack([smooth, spiral, ring])[kind, torch.arange(n)]
    return (img + 0.35 * torch.randn_like(img)).unsqueeze(1), kind


def conv_bn(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False),
                         nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class GalaxyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(conv_bn(1, 16), conv_bn(16, 24, 2),
                               conv_bn(24, 48, 2), conv_bn(48, 48))
        self.fc = nn.Linear(48, 3)

    def forward(self, x):
        return self.fc(self.f(x).mean((2, 3)))


class WeightAverage:
    def __init__(self, model):
        self.model = copy.deepcopy(model)
        self.n = 0

    @torch.no_grad()
    def update(self, model):
        self.n += 1
        for avg, p in zip(self.model.parameters(), model.parameters()):
            avg.lerp_(p, 1.0 / self.n)

    @torch.no_grad()
    def refresh(self, x):
        for m in self.model.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.reset_running_stats()
                m.momentum = None
        self.model.train()
        for xb in x.split(100):
            self.model(xb)
        self.model.eval()


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return sum((model(xb).argmax(1) == yb).sum().item()
               for xb, yb in zip(x.split(200), y.split(200))) / len(y)


train_x, train_y = draw(N_TRAIN)
test_x, test_y = draw(N_TEST)
net = GalaxyNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
swa = WeightAverage(net)

for epoch in range(EPOCHS):
    net.train()
    order = torch.randperm(N_TRAIN)
    for k, idx in enumerate(order.split(50)):
        x = train_x[idx]
        if torch.rand(()) < 0.5:
            x = x.flip(-1)
        loss = F.cross_entropy(net(x), train_y[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if epoch >= START_AVERAGE and k % 4 == 0:
            swa.update(net)

swa.refresh(train_x)
print(f'last iterate: {accuracy(net, test_x, test_y):.3f}')
print(f'average of {swa.n} iterates: {accuracy(swa.model, test_x, test_y):.3f}')
"""
