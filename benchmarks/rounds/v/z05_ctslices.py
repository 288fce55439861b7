NAME = "Trains a small U-shaped network on single slices of made-up CT volumes stored as compressed npz files."
FAULT = "Each slice request opens and decompresses the whole npz volume again (image and label), to use one slice of it."
CURE = "Cache the loaded volumes (lru_cache on load_case), so each file is decompressed once."
KIND = "time"
FAULT_LINES = ["image, label = load_case(self.paths[case])", "with np.load(path) as archive:", 'return archive["image"], archive["label"]', "def load_case(path):"]
FAULT_CALLS = ["load", "load_case", "__getitem__", "read_array", "decompress", "read"]
_T = r'''
import tempfile
@@A@@from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

N_CASES, DEPTH, SIZE = 8, 40, 96


def write_cases(folder):
    zz, yy, xx = np.meshgrid(np.linspace(-1, 1, DEPTH), np.linspace(-1, 1, SIZE),
                             np.linspace(-1, 1, SIZE), indexing="ij")
    paths = []
    for c in range(N_CASES):
        cz, cy, cx = rng.uniform(-0.4, 0.4, 3)
        radius = rng.uniform(0.35, 0.6)
        lesion = (zz - cz) ** 2 + (yy - cy) ** 2 + (xx - cx) ** 2 < radius ** 2
        image = rng.normal(0, 60, lesion.shape) + 110 * lesion - 40
        path = folder / f"case_{c:02d}.npz"
        np.savez_compressed(path, image=image.astype(np.int16), label=lesion.astype(np.uint8))
        paths.append(path)
    return paths

@@B@@
def load_case(path):
    with np.load(path) as archive:
        return archive["image"], archive["label"]


class SliceDataset(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths) * DEPTH

    def __getitem__(self, i):
        case, z = divmod(i, DEPTH)
        image, label = load_case(self.paths[case])
        x = np.clip(image[z], -200, 200).astype(np.float32) / 200.0
        y = label[z].astype(np.float32)
        return torch.from_numpy(x)[None], torch.from_numpy(y)[None]


def block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
                         nn.BatchNorm2d(c_out), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = block(1, 8), block(8, 16)
        self.up = block(24, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.head(self.up(torch.cat([a, b], 1)))


def dice_score(logits, target):
    pred = (logits > 0).float()
    return (2 * (pred * target).sum() / (pred.sum() + target.sum()).clamp(min=1)).item()


with tempfile.TemporaryDirectory() as tmp:
    paths = write_cases(Path(tmp))
    train_dl = DataLoader(SliceDataset(paths[:6]), batch_size=8, shuffle=True, drop_last=True)
    val_dl = DataLoader(SliceDataset(paths[6:]), batch_size=16)
    net = TinyUNet().to(memory_format=torch.channels_last)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(3):
        net.train()
        running = 0.0
        for x, y in train_dl:
            loss = F.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        net.eval()
        with torch.no_grad():
            dice = [dice_score(net(x), y) for x, y in val_dl]
        print(f"epoch {epoch}: loss {running / len(train_dl):.3f}  val dice {np.mean(dice):.3f}")
'''
FAULTY = _T.replace("@@A@@", "").replace("@@B@@", "")
CURED = _T.replace("@@A@@", "from functools import lru_cache\n").replace("@@B@@", "\n@lru_cache(maxsize=None)")
