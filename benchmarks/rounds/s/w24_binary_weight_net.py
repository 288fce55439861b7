NAME = 'Trains a convolutional network with binary weights through a custom autograd function with a straight-through gradient.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The weights are binarised again in each forward because they change in each step, and this costs little beside the convolutions.'

GOOD = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

CLASSES, SIZE, N_TRAIN, N_TEST = 8, 24, 1500, 500


class BinarizeWeight(torch.autograd.Function):
    """Sign of the weight times a scale per output channel."""

    @staticmethod
    def forward(ctx, weight):
        ctx.save_for_backward(weight)
        scale = weight.abs().mean(dim=(1, 2, 3), keepdim=True)
        return weight.sign() * scale

    @staticmethod
    def backward(ctx, grad):
        (weight,) = ctx.saved_tensors
        return grad * (weight.abs() <= 1).to(grad.dtype)


class BinaryConv2d(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, BinarizeWeight.apply(self.weight), self.bias)


class BinaryNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn0 = nn.BatchNorm2d(width)
        self.conv1 = BinaryConv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = BinaryConv2d(width, 2 * width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.head = nn.Linear(2 * width, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn0(self.stem(x))), 2)
        x = x + F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        x = F.relu(self.bn2(self.conv2(x)))
        return self.head(x.mean(dim=(2, 3)))

    @torch.no_grad()
    def clip_weights(self):
        for module in self.modules():
            if isinstance(module, BinaryConv2d):
                module.weight.clamp_(-1, 1)


def make_gratings(n):
    labels = torch.randint(0, CLASSES, (n,))
    angle = labels.float() * torch.pi / CLASSES
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    along = xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None]
    wave = torch.sin(0.9 * along + 6.28 * torch.rand(n, 1, 1))
    return (wave + 1.2 * torch.randn(n, SIZE, SIZE)).unsqueeze(1), labels


x_train, y_train = make_gratings(N_TRAIN)
x_test, y_test = make_gratings(N_TEST)
model = BinaryNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)

for epoch in range(8):
    model.train()
    loss_sum = 0.0
    for idx in torch.randperm(N_TRAIN).split(50):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.clip_weights()
        loss_sum += loss.item() * len(idx)
    scheduler.step()
    model.eval()
    with torch.no_grad():
        predicted = torch.cat([model(x).argmax(1) for x in x_test.split(250)])
    accuracy = (predicted == y_test).float().mean().item()
    print(f"epoch {epoch}: loss {loss_sum / N_TRAIN:.3f} accuracy {accuracy:.3f}")

bits = sum(m.weight.numel() for m in model.modules() if isinstance(m, BinaryConv2d))
total = sum(p.numel() for p in model.parameters())
print(f"binary weights {bits} of {total} parameters")
'''
