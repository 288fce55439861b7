NAME = 'Patch-based nodule classifier on synthetic CT volumes'
FAULT = '__getitem__ clips, rescales and gamma-adjusts the whole CT volume and only then cuts the 32^3 patch out of it; all these transforms work voxel by voxel'
CURE = 'Cut the patch first and transform only the patch'
KIND = 'time'
FAULT_LINES = ['vol = np.clip(vol, self.lo, self.hi)', 'vol = ((vol - self.lo) / (self.hi - self.lo)).astype(np.float32)', 'vol = np.power(vol, np.float32(gamma))', 'vol = self.volumes[v].astype(np.float32)']
FAULT_CALLS = ['np.power', 'np.clip', 'astype', '__getitem__']
FAULTY = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(21)


def synth_volume(rng, shape=(96, 192, 192), n_nodules=10):
    vol = rng.normal(-820, 60, shape)
    zz, yy, xx = np.ogrid[:shape[0], :shape[1], :shape[2]]
    centres = []
    for _ in range(n_nodules):
        c = [int(rng.integers(18, s - 18)) for s in shape]
        r = rng.uniform(3, 7)
        ball = (zz - c[0]) ** 2 + (yy - c[1]) ** 2 + (xx - c[2]) ** 2 < r * r
        vol[ball] = rng.normal(40, 50, int(ball.sum()))
        centres.append(c)
    return vol.astype(np.int16), centres


class NodulePatches(Dataset):
    def __init__(self, volumes, centres, per_epoch, seed, size=32, window=(-1000, 400)):
        self.volumes, self.centres = volumes, centres
        self.per_epoch = per_epoch
        self.size = size
        self.lo, self.hi = window
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.per_epoch

    def _corner(self, v, positive):
        shape, s = self.volumes[v].shape, self.size
        if positive:
            c = self.centres[v][self.rng.integers(len(self.centres[v]))]
            c = np.array(c) + self.rng.integers(-5, 6, 3)
            return np.clip(c - s // 2, 0, np.array(shape) - s)
        return np.array([self.rng.integers(0, d - s + 1) for d in shape])

    def __getitem__(self, i):
        v = i % len(self.volumes)
        label = i % 2
        z, y, x = self._corner(v, label == 1)
        gamma = self.rng.uniform(0.7, 1.4)
        flip = self.rng.random(3) < 0.5
        vol = self.volumes[v].astype(np.float32)
        vol = np.clip(vol, self.lo, self.hi)
        vol = ((vol - self.lo) / (self.hi - self.lo)).astype(np.float32)
        vol = np.power(vol, np.float32(gamma))
        patch = vol[z:z + self.size, y:y + self.size, x:x + self.size]
        for ax in range(3):
            if flip[ax]:
                patch = np.flip(patch, ax)
        return torch.from_numpy(patch.copy()).unsqueeze(0), label


class Tiny3D(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv3d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2),
            nn.Conv3d(16, 32, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc(self.body(x).amax(dim=(2, 3, 4))).squeeze(-1)


rng = np.random.default_rng(0)
scans = [synth_volume(rng) for _ in range(4)]
ds = NodulePatches([s[0] for s in scans], [s[1] for s in scans], per_epoch=112, seed=4)
loader = DataLoader(ds, batch_size=14, shuffle=True, generator=torch.Generator().manual_seed(8))

net = Tiny3D()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    loss_sum, hits = 0.0, 0
    for x, y in loader:
        out = net(x)
        loss = bce(out, y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss_sum += loss.item() * len(y)
        hits += ((out > 0).long() == y).sum().item()
    print(f"epoch {epoch}: loss {loss_sum / len(ds):.4f}  acc {hits / len(ds):.3f}")
"""
CURED = r"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(21)


def synth_volume(rng, shape=(96, 192, 192), n_nodules=10):
    vol = rng.normal(-820, 60, shape)
    zz, yy, xx = np.ogrid[:shape[0], :shape[1], :shape[2]]
    centres = []
    for _ in range(n_nodules):
        c = [int(rng.integers(18, s - 18)) for s in shape]
        r = rng.uniform(3, 7)
        ball = (zz - c[0]) ** 2 + (yy - c[1]) ** 2 + (xx - c[2]) ** 2 < r * r
        vol[ball] = rng.normal(40, 50, int(ball.sum()))
        centres.append(c)
    return vol.astype(np.int16), centres


class NodulePatches(Dataset):
    def __init__(self, volumes, centres, per_epoch, seed, size=32, window=(-1000, 400)):
        self.volumes, self.centres = volumes, centres
        self.per_epoch = per_epoch
        self.size = size
        self.lo, self.hi = window
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.per_epoch

    def _corner(self, v, positive):
        shape, s = self.volumes[v].shape, self.size
        if positive:
            c = self.centres[v][self.rng.integers(len(self.centres[v]))]
            c = np.array(c) + self.rng.integers(-5, 6, 3)
            return np.clip(c - s // 2, 0, np.array(shape) - s)
        return np.array([self.rng.integers(0, d - s + 1) for d in shape])

    def __getitem__(self, i):
        v = i % len(self.volumes)
        label = i % 2
        z, y, x = self._corner(v, label == 1)
        gamma = self.rng.uniform(0.7, 1.4)
        flip = self.rng.random(3) < 0.5
        s = self.size
        vol = self.volumes[v][z:z + s, y:y + s, x:x + s].astype(np.float32)
        vol = np.clip(vol, self.lo, self.hi)
        vol = ((vol - self.lo) / (self.hi - self.lo)).astype(np.float32)
        vol = np.power(vol, np.float32(gamma))
        patch = vol
        for ax in range(3):
            if flip[ax]:
                patch = np.flip(patch, ax)
        return torch.from_numpy(patch.copy()).unsqueeze(0), label


class Tiny3D(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv3d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2),
            nn.Conv3d(16, 32, 3, padding=1), nn.ReLU())
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc(self.body(x).amax(dim=(2, 3, 4))).squeeze(-1)


rng = np.random.default_rng(0)
scans = [synth_volume(rng) for _ in range(4)]
ds = NodulePatches([s[0] for s in scans], [s[1] for s in scans], per_epoch=112, seed=4)
loader = DataLoader(ds, batch_size=14, shuffle=True, generator=torch.Generator().manual_seed(8))

net = Tiny3D()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    loss_sum, hits = 0.0, 0
    for x, y in loader:
        out = net(x)
        loss = bce(out, y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss_sum += loss.item() * len(y)
        hits += ((out > 0).long() == y).sum().item()
    print(f"epoch {epoch}: loss {loss_sum / len(ds):.4f}  acc {hits / len(ds):.3f}")
"""
