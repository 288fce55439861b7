NAME = 'Trains a small 3D convolutional net on random patches of synthetic CT volumes.'
FAULT = 'The intensity windowing (float conversion, scaling, clamping, gamma) is applied to the entire volume for every patch and only then the 24^3 patch is cut out; all of these operations are pointwise.'
CURE = 'Cut the patch first and window only the patch.'
KIND = 'time'
FAULT_LINES = [
    'vol = window(torch.from_numpy(self.volumes[k]))',
    'hu = vol.float()',
    'return ((hu - lo) / (hi - lo)).clamp(0, 1).pow(gamma)',
    'patch = vol[z:z + P, y:y + P, x:x + P]',
]
FAULT_CALLS = [
    'window',
    'pow',
    'clamp',
    'float',
    '__getitem__',
    'sub',
    'div',
    'fetch',
]
FAULTY = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

P = 24


def fake_ct(size=160):
    # int16 "Hounsfield units" with a few bright lesions, mask of the lesions
    vol = rng.integers(-250, 120, (size, size, size), dtype=np.int16)
    mask = np.zeros((size, size, size), bool)
    for _ in range(40):
        z, y, x = rng.integers(6, size - 6, 3)
        r = rng.integers(2, 6)
        vol[z - r:z + r, y - r:y + r, x - r:x + r] += 260
        mask[z - r:z + r, y - r:y + r, x - r:x + r] = True
    return vol, mask


def window(vol, lo=-160.0, hi=240.0, gamma=0.8):
    hu = vol.float()
    return ((hu - lo) / (hi - lo)).clamp(0, 1).pow(gamma)


class PatchSet(Dataset):
    def __init__(self, cases, per_volume=60):
        self.volumes = [c[0] for c in cases]
        self.masks = [c[1] for c in cases]
        self.per_volume = per_volume

    def __len__(self):
        return len(self.volumes) * self.per_volume

    def __getitem__(self, i):
        k = i // self.per_volume
        vol = window(torch.from_numpy(self.volumes[k]))
        z, y, x = (int(torch.randint(0, s - P, ())) for s in vol.shape)
        patch = vol[z:z + P, y:y + P, x:x + P]
        target = torch.from_numpy(self.masks[k][z:z + P, y:y + P, x:x + P].astype(np.float32))
        return patch[None].contiguous(), target[None]


net = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loader = DataLoader(PatchSet([fake_ct() for _ in range(5)]), batch_size=6, shuffle=True)

seen, total = 0, 0.0
for step, (xb, yb) in enumerate(loader):
    logits = net(xb)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, yb, pos_weight=torch.tensor(8.0))
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen += len(xb)
    total += loss.item() * len(xb)
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
print("mean loss", round(total / seen, 5))
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

P = 24


def fake_ct(size=160):
    # int16 "Hounsfield units" with a few bright lesions, mask of the lesions
    vol = rng.integers(-250, 120, (size, size, size), dtype=np.int16)
    mask = np.zeros((size, size, size), bool)
    for _ in range(40):
        z, y, x = rng.integers(6, size - 6, 3)
        r = rng.integers(2, 6)
        vol[z - r:z + r, y - r:y + r, x - r:x + r] += 260
        mask[z - r:z + r, y - r:y + r, x - r:x + r] = True
    return vol, mask


def window(vol, lo=-160.0, hi=240.0, gamma=0.8):
    hu = vol.float()
    return ((hu - lo) / (hi - lo)).clamp(0, 1).pow(gamma)


class PatchSet(Dataset):
    def __init__(self, cases, per_volume=60):
        self.volumes = [c[0] for c in cases]
        self.masks = [c[1] for c in cases]
        self.per_volume = per_volume

    def __len__(self):
        return len(self.volumes) * self.per_volume

    def __getitem__(self, i):
        k = i // self.per_volume
        vol = torch.from_numpy(self.volumes[k])
        z, y, x = (int(torch.randint(0, s - P, ())) for s in vol.shape)
        patch = window(vol[z:z + P, y:y + P, x:x + P])
        target = torch.from_numpy(self.masks[k][z:z + P, y:y + P, x:x + P].astype(np.float32))
        return patch[None].contiguous(), target[None]


net = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loader = DataLoader(PatchSet([fake_ct() for _ in range(5)]), batch_size=6, shuffle=True)

seen, total = 0, 0.0
for step, (xb, yb) in enumerate(loader):
    logits = net(xb)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, yb, pos_weight=torch.tensor(8.0))
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen += len(xb)
    total += loss.item() * len(xb)
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
print("mean loss", round(total / seen, 5))
"""
