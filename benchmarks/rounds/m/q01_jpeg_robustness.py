NAME = 'Trains a small texture classifier and measures its accuracy under JPEG compression of several qualities.'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = []

FAULT_CALLS = []

GOOD = r"""
import io
import numpy as np
import torch
import torch.nn as nn
from PIL import Image

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

SIZE, N, CLASSES = 128, 620, 4
QUALITIES = [90, 70, 50, 30, 20, 10, 5]


def texture(label):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    angle = label * np.pi / 4 + 0.15 * rng.standard_normal()
    freq = rng.uniform(14, 22)
    wave = np.sin(2 * np.pi * freq * (xx * np.cos(angle) + yy * np.sin(angle)) + rng.uniform(0, 6))
    tint = rng.uniform(0.3, 0.7, 3)
    img = tint + 0.10 * wave[..., None] + 0.12 * rng.standard_normal((SIZE, SIZE, 3))
    return (img.clip(0, 1) * 255).astype(np.uint8)


def jpeg_round_trip(img, quality):
    buf = io.BytesIO()
    Image.fromarray(img).save(buf, format="JPEG", quality=quality)
    size = buf.tell()
    buf.seek(0)
    with Image.open(buf) as im:
        return np.asarray(im.convert("RGB")), size


def to_batch(imgs):
    x = torch.from_numpy(np.stack(imgs)).permute(0, 3, 1, 2)
    return x.contiguous().float().div_(127.5).sub_(1.0)


class TextureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 12, 7, stride=3), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


labels = rng.integers(0, CLASSES, N)
images = [texture(y) for y in labels]
n_train = 180
y = torch.from_numpy(labels)
x_train = to_batch(images[:n_train])

net = TextureNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
for epoch in range(10):
    for idx in torch.randperm(n_train).split(20):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x_train[idx]), y[idx])
        loss.backward()
        opt.step()
print(f"train loss {loss.item():.3f}")

net.eval()
test_imgs, test_y = images[n_train:], y[n_train:]
report = []
for q in QUALITIES:
    correct, total_bytes, err = 0, 0, 0.0
    for start in range(0, len(test_imgs), 40):
        chunk = test_imgs[start:start + 40]
        decoded = []
        for img in chunk:
            out, size = jpeg_round_trip(img, q)
            decoded.append(out)
            total_bytes += size
        with torch.no_grad():
            pred = net(to_batch(decoded)).argmax(1)
        correct += (pred == test_y[start:start + 40]).sum().item()
        diff = np.stack(chunk).astype(np.float32) - np.stack(decoded)
        err += float(np.vdot(diff, diff))
    psnr = 10 * np.log10(255 ** 2 * diff[0].size * len(test_imgs) / err)
    report.append((q, correct / len(test_imgs), total_bytes / len(test_imgs), psnr))
for q, acc, size, psnr in report:
    print(f"quality {q:3d}: accuracy {acc:.3f}  {size / 1024:.1f} kB  {psnr:.2f} dB")
"""

MEASURED = 'Processor time of the whole fresh process, imports included, 3 rounds: 5.64 s (6.14, 5.29, 5.48). Peak RSS 413 MB. Change tried: images made once as PIL, not from array at each quality: 5.42 s (5.62, 5.14, 5.51), gain +3.8%, peak RSS 441 MB.'
