NAME = 'Trains a small U-Net for nuclei segmentation from an in-memory data set.'
FAULT = None
CURE = None
KIND = None
SUSPICION = 'DataLoader with num_workers=0 and several .item()/.cpu() calls on every step; the data are in memory and the convolutions take nearly all of the time, on CPU .item() does not wait for anything, so neither change gains.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.set_num_threads(1)
torch.manual_seed(40)
rng = np.random.default_rng(40)

# nuclei segmentation, small U-Net
n, size = 300, 48


def microscope(n):
    imgs = np.zeros((n, 1, size, size), dtype=np.float32)
    masks = np.zeros((n, 1, size, size), dtype=np.float32)
    yy, xx = np.mgrid[0:size, 0:size]
    for k in range(n):
        for _ in range(rng.integers(2, 6)):
            cy, cx = rng.uniform(5, size - 5, 2)
            ry, rx = rng.uniform(3, 7, 2)
            blob = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2
            masks[k, 0] = np.maximum(masks[k, 0], blob < 1)
            imgs[k, 0] += 0.7 * np.exp(-blob)
        imgs[k, 0] += 0.2 * rng.normal(size=(size, size))
    return torch.from_numpy(imgs), torch.from_numpy(masks)


def double_conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.d1, self.d2, self.mid = double_conv(1, w), double_conv(w, 2 * w), double_conv(2 * w, 4 * w)
        self.up2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, stride=2)
        self.u2 = double_conv(4 * w, 2 * w)
        self.up1 = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.u1 = double_conv(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([self.up2(c), b], 1))
        a = self.u1(torch.cat([self.up1(b), a], 1))
        return self.out(a)


def dice(logits, mask):
    p = (logits > 0).float()
    return (2 * (p * mask).sum() / (p.sum() + mask.sum() + 1e-6)).item()


data = TensorDataset(*microscope(n))
train_set, test_set = random_split(data, [240, 60])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True, num_workers=0)
test_loader = DataLoader(test_set, batch_size=20, num_workers=0)

model = UNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
batch_log = {'loss': [], 'dice': [], 'grad': []}
for epoch in range(6):
    model.train()
    for img, mask in train_loader:
        optimizer.zero_grad()
        logits = model(img)
        loss = F.binary_cross_entropy_with_logits(logits, mask)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        # everything for the plots later
        batch_log['loss'].append(loss.item())
        batch_log['dice'].append(dice(logits.detach().cpu(), mask.cpu()))
        batch_log['grad'].append(norm.item())

    model.eval()
    with torch.no_grad():
        test_dice = [dice(model(img), mask) for img, mask in test_loader]
    print(f'epoch {epoch}: loss {np.mean(batch_log["loss"][-15:]):.4f} '
          f'grad {np.mean(batch_log["grad"][-15:]):.3f} test dice {np.mean(test_dice):.3f}')
"""
