NAME = 'Trains a bird-call classifier on spectrograms that come as one compressed npz archive.'
FAULT = '__getitem__ indexes the open NpzFile, which reads and decompresses the whole array again at every access instead of once.'
CURE = 'Read the arrays out of the archive once in __init__ and index the arrays.'
KIND = 'time'
FAULT_LINES = [
    'x = self.archive["spec"][i]',
    'y = self.archive["label"][i]',
    'self.archive = np.load(blob)',
]
FAULT_CALLS = [
    '__getitem__',
    'NpzFile.__getitem__',
    'read_array',
    'read',
    'decompress',
    'fetch',
    '_read1',
]
FAULTY = r"""
import io
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(0)


def build_archive(n=360, classes=6, seed=3):
    # stands for the archive downloaded from the bucket
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, n)
    spec = rng.integers(0, 14, (n, 64, 96), dtype=np.uint8)
    for i, c in enumerate(label):
        spec[i, 8 * c + 4:8 * c + 10, 20:70] += 16
    blob = io.BytesIO()
    np.savez_compressed(blob, spec=spec, label=label)
    blob.seek(0)
    return blob


class CallDataset(Dataset):
    def __init__(self, blob):
        self.archive = np.load(blob)
        self.n = len(self.archive["label"])

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        x = self.archive["spec"][i]
        y = self.archive["label"][i]
        x = torch.from_numpy(x.astype(np.float32) / 32.0)
        x = x.roll(int(torch.randint(-6, 7, ())), dims=1)
        return x[None], int(y)


class Net(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d((4, 2)), nn.Flatten())
        self.fc = nn.Linear(256, classes)

    def forward(self, x):
        return self.fc(self.body(x))


loader = DataLoader(CallDataset(build_archive()), batch_size=24, shuffle=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(2):
    hit = n = 0
    for xb, yb in loader:
        out = net(xb)
        loss = nn.functional.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hit += (out.argmax(1) == yb).sum().item()
        n += len(yb)
    print(f"epoch {epoch}: accuracy {hit / n:.3f}, last loss {loss.item():.5f}")
"""
CURED = r"""
import io
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(0)


def build_archive(n=360, classes=6, seed=3):
    # stands for the archive downloaded from the bucket
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, n)
    spec = rng.integers(0, 14, (n, 64, 96), dtype=np.uint8)
    for i, c in enumerate(label):
        spec[i, 8 * c + 4:8 * c + 10, 20:70] += 16
    blob = io.BytesIO()
    np.savez_compressed(blob, spec=spec, label=label)
    blob.seek(0)
    return blob


class CallDataset(Dataset):
    def __init__(self, blob):
        with np.load(blob) as archive:
            self.spec, self.label = archive["spec"], archive["label"]
        self.n = len(self.label)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        x = self.spec[i]
        y = self.label[i]
        x = torch.from_numpy(x.astype(np.float32) / 32.0)
        x = x.roll(int(torch.randint(-6, 7, ())), dims=1)
        return x[None], int(y)


class Net(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d((4, 2)), nn.Flatten())
        self.fc = nn.Linear(256, classes)

    def forward(self, x):
        return self.fc(self.body(x))


loader = DataLoader(CallDataset(build_archive()), batch_size=24, shuffle=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(2):
    hit = n = 0
    for xb, yb in loader:
        out = net(xb)
        loss = nn.functional.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hit += (out.argmax(1) == yb).sum().item()
        n += len(yb)
    print(f"epoch {epoch}: accuracy {hit / n:.3f}, last loss {loss.item():.5f}")
"""
