NAME = 'Fits a small image classifier and calibrates per-channel activation ranges for 8-bit fake quantisation with forward hooks.'
FAULT = 'The hooks keep the whole activations of all calibration batches until the ranges are computed.'
CURE = 'Reduce each activation to its per-channel maximum in the hook.'
KIND = 'memory'
FAULT_LINES = [
    'records[name].append(output)',
    'handles.append(module.register_forward_hook(observer(name)))',
    'peaks = torch.stack([t.abs().amax(dim=(0, 2, 3)) for t in records[name]])',
]
FAULT_CALLS = ['append', 'observer', 'hook', 'register_forward_hook', 'conv2d', 'forward']

FAULTY = r'''from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

CLASSES, SIZE = 6, 32
centers = torch.randn(CLASSES, 3, 8, 8)


def make_images(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (n,), generator=g)
    base = F.interpolate(centers[labels], size=SIZE, mode="bilinear")
    return base + 1.5 * torch.randn(n, 3, SIZE, SIZE, generator=g), labels


class FakeQuant(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", scale.view(1, -1, 1, 1))

    def forward(self, x):
        return (x / self.scale).round().clamp(-128, 127) * self.scale


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64, CLASSES)
        self.quant = nn.ModuleDict()

    def apply_quant(self, name, x):
        return self.quant[name](x) if name in self.quant else x

    def forward(self, x):
        x = F.relu(self.apply_quant("conv1", self.conv1(x)))
        x = F.max_pool2d(F.relu(self.apply_quant("conv2", self.conv2(x))), 2)
        x = F.relu(self.apply_quant("conv3", self.conv3(x)))
        return self.fc(x.mean(dim=(2, 3)))


@torch.no_grad()
def accuracy(model, x, y):
    return torch.cat([model(c).argmax(1) for c in x.split(32)]).eq(y).float().mean().item()


train_x, train_y = make_images(1280, 1)
calib_x, _ = make_images(1536, 2)
test_x, test_y = make_images(512, 3)
model = SmallNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    for idx in torch.randperm(len(train_x)).split(32):
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
model.eval()
print(f"float accuracy {accuracy(model, test_x, test_y):.3f}")

records = defaultdict(list)


def observer(name):
    def hook(module, inputs, output):
        records[name].append(output)
    return hook


handles = []
for name, module in model.named_children():
    if isinstance(module, nn.Conv2d):
        handles.append(module.register_forward_hook(observer(name)))
with torch.no_grad():
    for chunk in calib_x.split(32):
        model(chunk)
for handle in handles:
    handle.remove()

for name in list(records):
    peaks = torch.stack([t.abs().amax(dim=(0, 2, 3)) for t in records[name]])
    scale = peaks.quantile(0.9, dim=0) / 127
    model.quant[name] = FakeQuant(scale)
    print(f"{name}: scales {scale.min().item():.4f} to {scale.max().item():.4f}")
print(f"8-bit accuracy {accuracy(model, test_x, test_y):.3f}")
'''

CURED = r'''from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

CLASSES, SIZE = 6, 32
centers = torch.randn(CLASSES, 3, 8, 8)


def make_images(n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (n,), generator=g)
    base = F.interpolate(centers[labels], size=SIZE, mode="bilinear")
    return base + 1.5 * torch.randn(n, 3, SIZE, SIZE, generator=g), labels


class FakeQuant(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", scale.view(1, -1, 1, 1))

    def forward(self, x):
        return (x / self.scale).round().clamp(-128, 127) * self.scale


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64, CLASSES)
        self.quant = nn.ModuleDict()

    def apply_quant(self, name, x):
        return self.quant[name](x) if name in self.quant else x

    def forward(self, x):
        x = F.relu(self.apply_quant("conv1", self.conv1(x)))
        x = F.max_pool2d(F.relu(self.apply_quant("conv2", self.conv2(x))), 2)
        x = F.relu(self.apply_quant("conv3", self.conv3(x)))
        return self.fc(x.mean(dim=(2, 3)))


@torch.no_grad()
def accuracy(model, x, y):
    return torch.cat([model(c).argmax(1) for c in x.split(32)]).eq(y).float().mean().item()


train_x, train_y = make_images(1280, 1)
calib_x, _ = make_images(1536, 2)
test_x, test_y = make_images(512, 3)
model = SmallNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    for idx in torch.randperm(len(train_x)).split(32):
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
model.eval()
print(f"float accuracy {accuracy(model, test_x, test_y):.3f}")

records = defaultdict(list)


def observer(name):
    def hook(module, inputs, output):
        records[name].append(output.abs().amax(dim=(0, 2, 3)))
    return hook


handles = []
for name, module in model.named_children():
    if isinstance(module, nn.Conv2d):
        handles.append(module.register_forward_hook(observer(name)))
with torch.no_grad():
    for chunk in calib_x.split(32):
        model(chunk)
for handle in handles:
    handle.remove()

for name in list(records):
    peaks = torch.stack(records[name])
    scale = peaks.quantile(0.9, dim=0) / 127
    model.quant[name] = FakeQuant(scale)
    print(f"{name}: scales {scale.min().item():.4f} to {scale.max().item():.4f}")
print(f"8-bit accuracy {accuracy(model, test_x, test_y):.3f}")
'''
