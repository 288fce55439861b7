NAME = 'h03_plankton_crops'
FAULT = 'Each __getitem__ converts, de-gammas and normalises the whole 512x512 frame in float and only then cuts the 64x64 random crop, so ~98% of the per-pixel work is thrown away.'
CURE = 'Cut the crop from the uint8 frame first and apply the per-pixel transforms to the crop only.'
KIND = 'time'
FAULT_LINES = [
    '        img = torch.from_numpy(self.frames[i]).float().div(255)',
    '        img = img.pow(self.gamma)',
    '        img = (img - self.mean) / self.std',
    '        img = img[:, y:y + CROP, x:x + CROP]',
]
FAULT_CALLS = ['aten::pow', 'aten::div', 'aten::sub', 'aten::to', 'aten::copy_', '__getitem__']
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

SIZE, CROP, N_CLASSES = 512, 64, 4

# microscope frames: background texture + class dependent stripes
def make_frame(label):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    freq = 0.1 + 0.12 * label
    base = 110 + 60 * np.sin(freq * xx + rng.uniform(0, 6)) * np.cos(0.05 * yy)
    noise = rng.normal(0, 18, (3, SIZE, SIZE))
    return np.clip(base[None] + noise, 0, 255).astype(np.uint8)

labels = np.arange(40) % N_CLASSES
frames = [make_frame(l) for l in labels]

class PlanktonCrops(Dataset):
    def __init__(self, frames, labels, per_frame=10):
        self.frames, self.labels, self.per_frame = frames, labels, per_frame
        self.gamma = 1.8
        self.mean = torch.tensor([0.25, 0.25, 0.25]).view(3, 1, 1)
        self.std = torch.tensor([0.17, 0.17, 0.17]).view(3, 1, 1)

    def __len__(self):
        return len(self.frames) * self.per_frame

    def __getitem__(self, idx):
        i = idx % len(self.frames)
        y, x = torch.randint(0, SIZE - CROP, (2,)).tolist()
        img = torch.from_numpy(self.frames[i]).float().div(255)
        img = img.pow(self.gamma)
        img = (img - self.mean) / self.std
        img = img[:, y:y + CROP, x:x + CROP]
        if torch.rand(1).item() < 0.5:
            img = img.flip(-1)
        return img, int(self.labels[i])

class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.fc = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.fc(x.mean((2, 3)))

loader = DataLoader(PlanktonCrops(frames, labels), batch_size=32, shuffle=True)
net = SmallCNN()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(4):
    seen, correct, total = 0, 0, 0.0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
        correct += (out.argmax(1) == yb).sum().item()
        seen += len(yb)
    print(f"epoch {epoch}: loss {total / seen:.4f} acc {correct / seen:.3f}")
'''
CURED = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

SIZE, CROP, N_CLASSES = 512, 64, 4

# microscope frames: background texture + class dependent stripes
def make_frame(label):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    freq = 0.1 + 0.12 * label
    base = 110 + 60 * np.sin(freq * xx + rng.uniform(0, 6)) * np.cos(0.05 * yy)
    noise = rng.normal(0, 18, (3, SIZE, SIZE))
    return np.clip(base[None] + noise, 0, 255).astype(np.uint8)

labels = np.arange(40) % N_CLASSES
frames = [make_frame(l) for l in labels]

class PlanktonCrops(Dataset):
    def __init__(self, frames, labels, per_frame=10):
        self.frames, self.labels, self.per_frame = frames, labels, per_frame
        self.gamma = 1.8
        self.mean = torch.tensor([0.25, 0.25, 0.25]).view(3, 1, 1)
        self.std = torch.tensor([0.17, 0.17, 0.17]).view(3, 1, 1)

    def __len__(self):
        return len(self.frames) * self.per_frame

    def __getitem__(self, idx):
        i = idx % len(self.frames)
        y, x = torch.randint(0, SIZE - CROP, (2,)).tolist()
        img = torch.from_numpy(self.frames[i][:, y:y + CROP, x:x + CROP]).float().div(255)
        img = img.pow(self.gamma)
        img = (img - self.mean) / self.std
        if torch.rand(1).item() < 0.5:
            img = img.flip(-1)
        return img, int(self.labels[i])

class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.fc = nn.Linear(64, N_CLASSES)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.fc(x.mean((2, 3)))

loader = DataLoader(PlanktonCrops(frames, labels), batch_size=32, shuffle=True)
net = SmallCNN()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(4):
    seen, correct, total = 0, 0, 0.0
    for xb, yb in loader:
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(yb)
        correct += (out.argmax(1) == yb).sum().item()
        seen += len(yb)
    print(f"epoch {epoch}: loss {total / seen:.4f} acc {correct / seen:.3f}")
'''
