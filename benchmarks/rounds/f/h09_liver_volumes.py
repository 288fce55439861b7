NAME = 'h09_liver_volumes'
FAULT = 'The full float probability volumes (6 classes) of every case are kept in a list till a second loop needs them only for per-case Dice scores, so memory grows with the number of cases.'
CURE = "Turn each case's probabilities into its prediction and Dice scores right after the case and keep only the scores."
KIND = 'memory'
FAULT_LINES = [
    'outputs = []',
    '    outputs.append((probs, mask))',
    'for probs, mask in outputs:',
]
FAULT_CALLS = ['predict_volume', 'list.append', 'aten::softmax', 'aten::zeros', 'torch.zeros', 'torch.softmax', 'aten::div_']
FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

CLASSES = ['background', 'liver', 'tumour', 'vessel', 'spleen', 'kidney']
SHAPE, PATCH, STRIDE = (64, 128, 128), 64, 64

def make_case(seed):
    g = torch.Generator().manual_seed(seed)
    axes = [torch.linspace(-1, 1, s) for s in SHAPE]
    z, y, x = torch.meshgrid(*axes, indexing='ij')
    mask = torch.zeros(SHAPE, dtype=torch.uint8)
    for c in range(1, len(CLASSES)):
        o = (torch.rand(3, generator=g) - 0.5) * 1.0
        r = 0.15 + 0.25 * torch.rand(1, generator=g).item()
        mask[((z - o[0]) ** 2 + (y - o[1]) ** 2 + (x - o[2]) ** 2) < r * r] = c
    image = mask.float() * 0.35 + 0.25 * torch.randn(SHAPE, generator=g)
    return image, mask

class TinySeg(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv3d(1, width, 3, stride=2, padding=1)
        self.mid = nn.Conv3d(width, width * 2, 3, padding=1)
        self.out = nn.Conv3d(width * 2, len(CLASSES), 1)

    def forward(self, x):
        h = F.relu(self.stem(x))
        h = F.relu(self.mid(h))
        return F.interpolate(self.out(h), scale_factor=2, mode='trilinear', align_corners=False)

def random_patch(image, mask):
    s = [torch.randint(0, d - 32 + 1, (1,)).item() for d in SHAPE]
    sl = tuple(slice(a, a + 32) for a in s)
    return image[sl], mask[sl].long()

net = TinySeg()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
train_cases = [make_case(i) for i in range(3)]
net.train()
for step in range(100):
    pairs = [random_patch(*train_cases[torch.randint(0, 3, (1,)).item()]) for _ in range(4)]
    xb = torch.stack([p[0] for p in pairs])[:, None]
    yb = torch.stack([p[1] for p in pairs])
    loss = F.cross_entropy(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"train loss {loss.item():.3f}")

@torch.no_grad()
def predict_volume(image):
    acc = torch.zeros(len(CLASSES), *SHAPE)
    for z in range(0, SHAPE[0], STRIDE):
        for y in range(0, SHAPE[1], STRIDE):
            for x in range(0, SHAPE[2], STRIDE):
                patch = image[None, None, z:z + PATCH, y:y + PATCH, x:x + PATCH]
                acc[:, z:z + PATCH, y:y + PATCH, x:x + PATCH] += net(patch)[0].softmax(0)
    return acc

def dice_scores(pred, mask):
    scores = []
    for c in range(len(CLASSES)):
        p, m = pred == c, mask == c
        scores.append(2.0 * (p & m).sum().item() / max(1, (p.sum() + m.sum()).item()))
    return torch.tensor(scores)

net.eval()
outputs = []
for case_id in range(100, 122):
    image, mask = make_case(case_id)
    probs = predict_volume(image)
    outputs.append((probs, mask))
print("predicted", len(outputs), "cases")

scores = []
for probs, mask in outputs:
    scores.append(dice_scores(probs.argmax(0), mask))

table = torch.stack(scores)
for c, name in enumerate(CLASSES):
    print(f"{name:11s} dice {table[:, c].mean():.3f} +- {table[:, c].std():.3f}")
'''
CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

CLASSES = ['background', 'liver', 'tumour', 'vessel', 'spleen', 'kidney']
SHAPE, PATCH, STRIDE = (64, 128, 128), 64, 64

def make_case(seed):
    g = torch.Generator().manual_seed(seed)
    axes = [torch.linspace(-1, 1, s) for s in SHAPE]
    z, y, x = torch.meshgrid(*axes, indexing='ij')
    mask = torch.zeros(SHAPE, dtype=torch.uint8)
    for c in range(1, len(CLASSES)):
        o = (torch.rand(3, generator=g) - 0.5) * 1.0
        r = 0.15 + 0.25 * torch.rand(1, generator=g).item()
        mask[((z - o[0]) ** 2 + (y - o[1]) ** 2 + (x - o[2]) ** 2) < r * r] = c
    image = mask.float() * 0.35 + 0.25 * torch.randn(SHAPE, generator=g)
    return image, mask

class TinySeg(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv3d(1, width, 3, stride=2, padding=1)
        self.mid = nn.Conv3d(width, width * 2, 3, padding=1)
        self.out = nn.Conv3d(width * 2, len(CLASSES), 1)

    def forward(self, x):
        h = F.relu(self.stem(x))
        h = F.relu(self.mid(h))
        return F.interpolate(self.out(h), scale_factor=2, mode='trilinear', align_corners=False)

def random_patch(image, mask):
    s = [torch.randint(0, d - 32 + 1, (1,)).item() for d in SHAPE]
    sl = tuple(slice(a, a + 32) for a in s)
    return image[sl], mask[sl].long()

net = TinySeg()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
train_cases = [make_case(i) for i in range(3)]
net.train()
for step in range(100):
    pairs = [random_patch(*train_cases[torch.randint(0, 3, (1,)).item()]) for _ in range(4)]
    xb = torch.stack([p[0] for p in pairs])[:, None]
    yb = torch.stack([p[1] for p in pairs])
    loss = F.cross_entropy(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"train loss {loss.item():.3f}")

@torch.no_grad()
def predict_volume(image):
    acc = torch.zeros(len(CLASSES), *SHAPE)
    for z in range(0, SHAPE[0], STRIDE):
        for y in range(0, SHAPE[1], STRIDE):
            for x in range(0, SHAPE[2], STRIDE):
                patch = image[None, None, z:z + PATCH, y:y + PATCH, x:x + PATCH]
                acc[:, z:z + PATCH, y:y + PATCH, x:x + PATCH] += net(patch)[0].softmax(0)
    return acc

def dice_scores(pred, mask):
    scores = []
    for c in range(len(CLASSES)):
        p, m = pred == c, mask == c
        scores.append(2.0 * (p & m).sum().item() / max(1, (p.sum() + m.sum()).item()))
    return torch.tensor(scores)

net.eval()
scores = []
for case_id in range(100, 122):
    image, mask = make_case(case_id)
    probs = predict_volume(image)
    scores.append(dice_scores(probs.argmax(0), mask))
print("predicted", len(scores), "cases")

table = torch.stack(scores)
for c, name in enumerate(CLASSES):
    print(f"{name:11s} dice {table[:, c].mean():.3f} +- {table[:, c].std():.3f}")
'''
