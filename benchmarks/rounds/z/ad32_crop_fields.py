NAME = "Trains a small segmentation network on synthetic multispectral crop tiles and follows the stability of the maps over epochs."
FAULT = "The full probability maps of the validation tiles are kept for every epoch in a list, although only the class maps of the last two epochs are ever compared."
CURE = "Keep only the previous class map and drop the rest."
KIND = "memory"
FAULT_LINES = ["    snapshots.append(probs)", "    probs = predict(net, val_x)", "snapshots = []"]
FAULT_CALLS = ["predict", "softmax", "append", "cat"]
FAULTY = r'''
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(13)
rng = np.random.default_rng(13)

BANDS, SIZE, CLASSES = 5, 64, 8
spectra = rng.uniform(0.1, 0.7, (CLASSES, BANDS)).astype(np.float32)


def make_tiles(n):
    """Tiles of rectangular fields, each with the spectrum of its crop."""
    maps = np.zeros((n, SIZE, SIZE), dtype=np.int64)
    for m in maps:
        m[:] = rng.integers(CLASSES)
        for _ in range(7):
            r, c = rng.integers(0, SIZE - 12, 2)
            h, w = rng.integers(10, 32, 2)
            m[r:r + h, c:c + w] = rng.integers(CLASSES)
    img = spectra[maps].transpose(0, 3, 1, 2)
    haze = rng.uniform(0.8, 1.2, (n, 1, 1, 1)).astype(np.float32)
    img = img * haze + 0.12 * rng.standard_normal(img.shape, dtype=np.float32)
    return torch.from_numpy(img), torch.from_numpy(maps)


train_x, train_y = make_tiles(112)
val_x, val_y = make_tiles(320)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class FieldNet(nn.Module):
    def __init__(self, w=10):
        super().__init__()
        self.enc = block(BANDS, w)
        self.mid = nn.Sequential(nn.MaxPool2d(2), block(w, 2 * w), block(2 * w, 2 * w), nn.Upsample(scale_factor=2))
        self.dec = block(3 * w, w)
        self.head = nn.Conv2d(w, CLASSES, 1)

    def forward(self, x):
        e = self.enc(x)
        return self.head(self.dec(torch.cat([e, self.mid(e)], dim=1)))


@torch.no_grad()
def predict(net, x):
    net.eval()
    out = [net(part).softmax(dim=1) for part in x.split(20)]
    net.train()
    return torch.cat(out)


def mean_iou(pred, truth):
    ious = []
    for k in range(CLASSES):
        p, t = pred == k, truth == k
        ious.append(((p & t).sum() / (p | t).sum()).item())
    return float(np.mean(ious))


net = FieldNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
lossf = nn.CrossEntropyLoss()
snapshots = []
for epoch in range(14):
    for i in torch.randperm(len(train_x)).split(16):
        opt.zero_grad()
        loss = lossf(net(train_x[i]), train_y[i])
        loss.backward()
        opt.step()
    probs = predict(net, val_x)
    snapshots.append(probs)
    crop_map = probs.argmax(dim=1)
    line = f"epoch {epoch:2d}  mIoU {mean_iou(crop_map, val_y):.3f}"
    if epoch > 0:
        changed = (crop_map != snapshots[-2].argmax(dim=1)).float().mean().item()
        line += f"  changed pixels {100 * changed:.1f}%"
    if epoch % 3 == 1:
        print(line)

area = torch.bincount(snapshots[-1].argmax(dim=1).flatten(), minlength=CLASSES) / val_y.numel()
print("area shares:", " ".join(f"{a:.3f}" for a in area.tolist()))
'''
CURED = FAULTY.replace("snapshots = []\n", "previous = None\n").replace("    snapshots.append(probs)\n", "").replace('''(crop_map != snapshots[-2].argmax(dim=1))''', "(crop_map != previous)").replace('''    if epoch % 3 == 1:
        print(line)
''', '''    previous = crop_map
    if epoch % 3 == 1:
        print(line)
''').replace("torch.bincount(snapshots[-1].argmax(dim=1).flatten()", "torch.bincount(previous.flatten()")
