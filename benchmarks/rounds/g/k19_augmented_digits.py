NAME = 'Few-shot stroke digits with random augmentation'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'The Dataset rotates, shifts and blots every image again in __getitem__ in every epoch, which looks like work that could be cached, but the fresh randomness is what makes the small training set suffice.'
GOOD = r"""import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(59)
rng = np.random.default_rng(59)

SEGMENTS = {"a": (7, 5, 16, 5), "b": (16, 5, 16, 13), "c": (16, 13, 16, 21), "d": (7, 21, 16, 21),
            "e": (7, 13, 7, 21), "f": (7, 5, 7, 13), "g": (7, 13, 16, 13)}
DIGITS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcfgd"]


def draw_digit(d, width):
    img = Image.new("L", (24, 26), 0)
    pen = ImageDraw.Draw(img)
    for s in DIGITS[d]:
        jitter = rng.normal(0, 0.5, 4)
        pen.line([float(v) for v in np.array(SEGMENTS[s]) + jitter], fill=255, width=width)
    return img


class Augment:
    def __init__(self, angle=25, shift=3, noise=0.15):
        self.angle, self.shift, self.noise = angle, shift, noise

    def __call__(self, img):
        dx, dy = rng.uniform(-self.shift, self.shift, 2)
        img = img.rotate(rng.uniform(-self.angle, self.angle), resample=Image.BILINEAR, translate=(dx, dy))
        x = np.asarray(img, dtype=np.float32) / 255
        y0, x0 = rng.integers(0, 20), rng.integers(0, 18)
        x = x + self.noise * rng.standard_normal(x.shape, dtype=np.float32)
        x[y0:y0 + 5, x0:x0 + 5] = 0.5
        return torch.from_numpy(x).unsqueeze(0)


class StrokeDigits(Dataset):
    def __init__(self, per_class, transform):
        self.labels = [d for d in range(10) for _ in range(per_class)]
        self.images = [draw_digit(d, int(rng.integers(1, 4))) for d in self.labels]
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(self.images[i]), self.labels[i]


train_set = StrokeDigits(12, Augment())
test_set = StrokeDigits(60, Augment())
test_x = torch.stack([test_set[i][0] for i in range(len(test_set))])
test_y = torch.tensor(test_set.labels)
loader = DataLoader(train_set, batch_size=24, shuffle=True)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 6 * 6, 10),
)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
for epoch in range(1, 121):
    net.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    if epoch % 20 == 0:
        net.eval()
        with torch.no_grad():
            acc = (net(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch:3d}: loss {total / len(train_set):.4f}  test accuracy {acc:.3f}")
"""
