NAME = 'Trains a small U-Net to segment blobs in noisy images, with a preview figure in a temporary folder.'
FAULT = 'The preview figure is drawn and saved with matplotlib after every training step.'
CURE = 'Draw the preview once at the end of each epoch.'
KIND = 'time'
FAULT_LINES = [
    'save_preview(history)',
    'figure.savefig(preview_path)',
    'def save_preview(history):',
]
FAULT_CALLS = ['save_preview', 'savefig', 'subplots', 'imshow', 'plot']

FAULTY = r'''import os
import tempfile
import matplotlib
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

matplotlib.use("Agg")
torch.set_num_threads(1)
torch.manual_seed(0)

SIZE, N_TRAIN, N_TEST, BATCH, EPOCHS = 32, 384, 64, 16, 4


def make_blobs(n):
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    mask = torch.zeros(n, SIZE, SIZE, dtype=torch.bool)
    for _ in range(3):
        cy, cx = torch.rand(2, n, 1, 1) * SIZE
        ry, rx = 3 + torch.rand(2, n, 1, 1) * 4
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    images = mask.float() + 0.8 * torch.randn(n, SIZE, SIZE)
    return images.unsqueeze(1), mask.float().unsqueeze(1)


def double_conv(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
        nn.Conv2d(c_out, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 96)):
        super().__init__()
        self.down = nn.ModuleList()
        c_in = 1
        for w in widths:
            self.down.append(double_conv(c_in, w))
            c_in = w
        self.up, self.merge = nn.ModuleList(), nn.ModuleList()
        for w in reversed(widths[:-1]):
            self.up.append(nn.ConvTranspose2d(c_in, w, 2, stride=2))
            self.merge.append(double_conv(2 * w, w))
            c_in = w
        self.head = nn.Conv2d(c_in, 1, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, reversed(skips[:-1])):
            x = merge(torch.cat([up(x), skip], dim=1))
        return self.head(x)


def dice(logits, mask):
    pred = (logits > 0).float()
    return (2 * (pred * mask).sum() / (pred.sum() + mask.sum()).clamp(min=1)).item()


images, masks = make_blobs(N_TRAIN)
test_images, test_masks = make_blobs(N_TEST)
model = UNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
folder = tempfile.TemporaryDirectory()
preview_path = os.path.join(folder.name, "preview.png")
history = []


def save_preview(history):
    model.eval()
    with torch.no_grad():
        predicted = model(test_images[:2]).sigmoid()
    model.train()
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    axes[0].plot(history)
    axes[0].set_title("loss")
    axes[1].imshow(test_images[0, 0], cmap="gray")
    axes[2].imshow(predicted[0, 0], vmin=0, vmax=1)
    figure.savefig(preview_path)
    plt.close(figure)


for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        loss = F.binary_cross_entropy_with_logits(model(images[idx]), masks[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        total += history[-1] * len(idx)
        save_preview(history)
    print(f"epoch {epoch}: loss {total / N_TRAIN:.4f}")

model.eval()
with torch.no_grad():
    score = dice(model(test_images), test_masks)
print(f"test dice {score:.3f}, preview written: {os.path.exists(preview_path)}")
folder.cleanup()
'''

CURED = r'''import os
import tempfile
import matplotlib
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

matplotlib.use("Agg")
torch.set_num_threads(1)
torch.manual_seed(0)

SIZE, N_TRAIN, N_TEST, BATCH, EPOCHS = 32, 384, 64, 16, 4


def make_blobs(n):
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    mask = torch.zeros(n, SIZE, SIZE, dtype=torch.bool)
    for _ in range(3):
        cy, cx = torch.rand(2, n, 1, 1) * SIZE
        ry, rx = 3 + torch.rand(2, n, 1, 1) * 4
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    images = mask.float() + 0.8 * torch.randn(n, SIZE, SIZE)
    return images.unsqueeze(1), mask.float().unsqueeze(1)


def double_conv(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
        nn.Conv2d(c_out, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 96)):
        super().__init__()
        self.down = nn.ModuleList()
        c_in = 1
        for w in widths:
            self.down.append(double_conv(c_in, w))
            c_in = w
        self.up, self.merge = nn.ModuleList(), nn.ModuleList()
        for w in reversed(widths[:-1]):
            self.up.append(nn.ConvTranspose2d(c_in, w, 2, stride=2))
            self.merge.append(double_conv(2 * w, w))
            c_in = w
        self.head = nn.Conv2d(c_in, 1, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, reversed(skips[:-1])):
            x = merge(torch.cat([up(x), skip], dim=1))
        return self.head(x)


def dice(logits, mask):
    pred = (logits > 0).float()
    return (2 * (pred * mask).sum() / (pred.sum() + mask.sum()).clamp(min=1)).item()


images, masks = make_blobs(N_TRAIN)
test_images, test_masks = make_blobs(N_TEST)
model = UNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
folder = tempfile.TemporaryDirectory()
preview_path = os.path.join(folder.name, "preview.png")
history = []


def save_preview(history):
    model.eval()
    with torch.no_grad():
        predicted = model(test_images[:2]).sigmoid()
    model.train()
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    axes[0].plot(history)
    axes[0].set_title("loss")
    axes[1].imshow(test_images[0, 0], cmap="gray")
    axes[2].imshow(predicted[0, 0], vmin=0, vmax=1)
    figure.savefig(preview_path)
    plt.close(figure)


for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        loss = F.binary_cross_entropy_with_logits(model(images[idx]), masks[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        total += history[-1] * len(idx)
    save_preview(history)
    print(f"epoch {epoch}: loss {total / N_TRAIN:.4f}")

model.eval()
with torch.no_grad():
    score = dice(model(test_images), test_masks)
print(f"test dice {score:.3f}, preview written: {os.path.exists(preview_path)}")
folder.cleanup()
'''
