NAME = 'Trains a linear probe on a frozen backbone with random crops, flips and noise in every epoch.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'The frozen backbone is run again in each epoch because the augmentation gives it other images each time; the test images are run once.'

GOOD = r'''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

CLASSES, PER_CLASS, SIZE, CROP, EPOCHS, BATCH = 5, 100, 36, 32, 11, 50


def draw_shapes(n, generator):
    labels = torch.arange(n) % CLASSES
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    cy, cx = torch.rand(2, n, 1, 1, generator=generator) * 10 + 13
    dy, dx = (yy - cy).abs(), (xx - cx).abs()
    shapes = torch.stack([
        (dy.square() + dx.square()) < 64,
        torch.maximum(dy, dx) < 7,
        (dy + dx) < 10,
        (dy < 3) & (dx < 12),
        ((dy < 2) & (dx < 9)) | ((dx < 2) & (dy < 9)),
    ])
    mask = shapes[labels, torch.arange(n)].float().unsqueeze(1)
    color = torch.rand(n, 3, 1, 1, generator=generator) + 0.3
    return mask * color + 0.4 * torch.randn(n, 3, SIZE, SIZE, generator=generator), labels


def augment(batch):
    n = len(batch)
    top, left = torch.randint(0, SIZE - CROP + 1, (2, n))
    rows = top[:, None] + torch.arange(CROP)
    cols = left[:, None] + torch.arange(CROP)
    flip = torch.rand(n) < 0.5
    cols = torch.where(flip[:, None], cols.flip(1), cols)
    out = batch[torch.arange(n)[:, None, None], :, rows[:, :, None], cols[:, None, :]]
    out = out.permute(0, 3, 1, 2).contiguous()
    return out + 0.1 * torch.randn_like(out)


class Residual(nn.Module):
    def __init__(self, c_in, c_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1)
        self.skip = nn.Conv2d(c_in, c_out, 1, stride=stride)

    def forward(self, x):
        return F.relu(self.skip(x) + self.conv2(F.relu(self.conv1(x))))


backbone = nn.Sequential(
    nn.Conv2d(3, 48, 3, padding=1), nn.ReLU(),
    Residual(48, 64, 2), Residual(64, 128, 2), Residual(128, 192, 2),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(),
)
backbone.eval().requires_grad_(False)
probe = nn.Sequential(nn.BatchNorm1d(192 * 4), nn.Linear(192 * 4, CLASSES))
optimizer = torch.optim.AdamW(probe.parameters(), lr=3e-3, weight_decay=1e-2)

g = torch.Generator().manual_seed(1)
train_x, train_y = draw_shapes(CLASSES * PER_CLASS, g)
test_x, test_y = draw_shapes(300, g)
margin = (SIZE - CROP) // 2
test_x = test_x[:, :, margin : margin + CROP, margin : margin + CROP]
test_features = torch.cat([backbone(x) for x in test_x.split(BATCH)])

for epoch in range(EPOCHS):
    probe.train()
    total = 0.0
    for idx in torch.randperm(len(train_x)).split(BATCH):
        with torch.no_grad():
            features = backbone(augment(train_x[idx]))
        loss = F.cross_entropy(probe(features), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    probe.eval()
    with torch.no_grad():
        accuracy = (probe(test_features).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch}: loss {total / len(train_x):.3f} test accuracy {accuracy:.3f}")
'''
