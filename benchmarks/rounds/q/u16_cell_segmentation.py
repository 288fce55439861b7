NAME = 'Trains a small U-Net with a soft Dice loss on made-up microscopy images with sixteen tissue classes.'
FAULT = 'The one-hot targets of the whole data set are made before the training as int64 and float tensors, sixteen classes deep.'
CURE = 'Keep the masks as class numbers and make the one-hot target of a batch inside the training loop.'
KIND = 'memory'
FAULT_LINES = ['targets = F.one_hot(masks.long(), CLASSES).permute(0, 3, 1, 2).float()']
FAULT_CALLS = ['F.one_hot', 'one_hot', 'float', 'permute']
FAULTY = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

N, SIZE, CLASSES, BLOBS = 600, 80, 16, 9


def make_slides():
    axis = torch.arange(SIZE).float()
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    palette = torch.rand(CLASSES, 3)
    images = torch.empty(N, 3, SIZE, SIZE)
    masks = torch.empty(N, SIZE, SIZE, dtype=torch.uint8)
    for i in range(N):
        cy, cx = torch.rand(2, BLOBS, 1, 1) * SIZE
        radius = 6 + 9 * torch.rand(BLOBS, 1, 1)
        kind = torch.randint(1, CLASSES, (BLOBS,))
        inside = 1 - ((yy - cy) ** 2 + (xx - cx) ** 2) / radius ** 2
        depth, owner = inside.max(0)
        mask = torch.where(depth > 0, kind[owner], 0)
        masks[i] = mask
        images[i] = palette[mask].permute(2, 0, 1)
    images += 0.15 * torch.randn(images.shape)
    return images, masks


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.d3 = conv(3, 12), conv(12, 24), conv(24, 48)
        self.u2, self.u1 = conv(48 + 24, 24), conv(24 + 12, 12)
        self.head = nn.Conv2d(12, CLASSES, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a)


def dice_loss(logits, target):
    prob = logits.softmax(1)
    overlap = (prob * target).sum((0, 2, 3))
    size = (prob + target).sum((0, 2, 3))
    return 1 - ((2 * overlap + 1) / (size + 1)).mean()


images, masks = make_slides()
targets = F.one_hot(masks.long(), CLASSES).permute(0, 3, 1, 2).float()
train, test = torch.arange(500), torch.arange(500, N)
model = TinyUNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(2):
    model.train()
    running = 0.0
    batches = train[torch.randperm(len(train))].split(10)
    for rows in batches:
        loss = dice_loss(model(images[rows]), targets[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        right = sum((model(images[r]).argmax(1) == masks[r]).float().mean().item() for r in test.split(20))
    print(f"epoch {epoch}  dice loss {running / len(batches):.4f}  pixel accuracy {right / 5:.4f}")
'''
CURED = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(31)

N, SIZE, CLASSES, BLOBS = 600, 80, 16, 9


def make_slides():
    axis = torch.arange(SIZE).float()
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    palette = torch.rand(CLASSES, 3)
    images = torch.empty(N, 3, SIZE, SIZE)
    masks = torch.empty(N, SIZE, SIZE, dtype=torch.uint8)
    for i in range(N):
        cy, cx = torch.rand(2, BLOBS, 1, 1) * SIZE
        radius = 6 + 9 * torch.rand(BLOBS, 1, 1)
        kind = torch.randint(1, CLASSES, (BLOBS,))
        inside = 1 - ((yy - cy) ** 2 + (xx - cx) ** 2) / radius ** 2
        depth, owner = inside.max(0)
        mask = torch.where(depth > 0, kind[owner], 0)
        masks[i] = mask
        images[i] = palette[mask].permute(2, 0, 1)
    images += 0.15 * torch.randn(images.shape)
    return images, masks


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.d3 = conv(3, 12), conv(12, 24), conv(24, 48)
        self.u2, self.u1 = conv(48 + 24, 24), conv(24 + 12, 12)
        self.head = nn.Conv2d(12, CLASSES, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a)


def dice_loss(logits, target):
    prob = logits.softmax(1)
    overlap = (prob * target).sum((0, 2, 3))
    size = (prob + target).sum((0, 2, 3))
    return 1 - ((2 * overlap + 1) / (size + 1)).mean()


images, masks = make_slides()
train, test = torch.arange(500), torch.arange(500, N)
model = TinyUNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(2):
    model.train()
    running = 0.0
    batches = train[torch.randperm(len(train))].split(10)
    for rows in batches:
        target = F.one_hot(masks[rows].long(), CLASSES).permute(0, 3, 1, 2).float()
        loss = dice_loss(model(images[rows]), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        right = sum((model(images[r]).argmax(1) == masks[r]).float().mean().item() for r in test.split(20))
    print(f"epoch {epoch}  dice loss {running / len(batches):.4f}  pixel accuracy {right / 5:.4f}")
'''
