NAME = 'e08_promoter_cnn'

FAULT = 'The one-hot encoding of each DNA sequence writes one tensor element per base in a Python loop.'

CURE = 'Map the bytes of the sequence through a lookup table in one indexing operation.'

KIND = 'time'

FAULT_LINES = [
    '        for i, base in enumerate(seq):',
    '                x[self.index[base], i] = 1.0',
    '        return self.encode(self.seqs[k]), self.labels[k]',
]

FAULT_CALLS = [
    'PromoterData.encode',
    'PromoterData.__getitem__',
    'Tensor.__setitem__',
    'aten::fill_',
]

FAULTY = r'''
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(8); torch.manual_seed(8)

LENGTH = 500
MOTIFS = ["TATAAA", "GGCCAATCT", "CACGTG"]


def simulate(n):
    seqs, labels = [], []
    for _ in range(n):
        s = random.choices("ACGT", k=LENGTH)
        for _ in range(10):
            s[random.randrange(LENGTH)] = "N"
        y = random.random() < 0.5
        if y:
            for m in MOTIFS:
                p = random.randrange(LENGTH - len(m))
                s[p:p + len(m)] = m
        seqs.append("".join(s))
        labels.append(float(y))
    return seqs, torch.tensor(labels)


class PromoterData(Dataset):
    index = {"A": 0, "C": 1, "G": 2, "T": 3}

    def __init__(self, n):
        self.seqs, self.labels = simulate(n)

    def __len__(self):
        return len(self.seqs)

    def encode(self, seq):
        x = torch.zeros(4, len(seq))
        for i, base in enumerate(seq):
            if base != "N":
                x[self.index[base], i] = 1.0
        return x

    def __getitem__(self, k):
        return self.encode(self.seqs[k]), self.labels[k]


class MotifNet(nn.Module):
    def __init__(self, filters=32):
        super().__init__()
        self.conv = nn.Conv1d(4, filters, 11, padding=5)
        self.pool = nn.AdaptiveMaxPool1d(4)
        self.out = nn.Sequential(nn.Flatten(), nn.Linear(filters * 4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.out(self.pool(self.conv(x).relu())).squeeze(1)


train = DataLoader(PromoterData(1200), batch_size=50, shuffle=True)
valid = DataLoader(PromoterData(400), batch_size=100)
model = MotifNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(3):
    model.train()
    running = 0.0
    for x, y in train:
        loss = bce(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    good = 0
    with torch.no_grad():
        for x, y in valid:
            good += ((model(x) > 0) == (y > 0.5)).sum().item()
    print(f"epoch {epoch}: train {running / len(train):.4f}  valid acc {good / 400:.3f}")
'''

CURED = r'''
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.set_num_threads(1)
random.seed(8); torch.manual_seed(8)

LENGTH = 500
MOTIFS = ["TATAAA", "GGCCAATCT", "CACGTG"]


def simulate(n):
    seqs, labels = [], []
    for _ in range(n):
        s = random.choices("ACGT", k=LENGTH)
        for _ in range(10):
            s[random.randrange(LENGTH)] = "N"
        y = random.random() < 0.5
        if y:
            for m in MOTIFS:
                p = random.randrange(LENGTH - len(m))
                s[p:p + len(m)] = m
        seqs.append("".join(s))
        labels.append(float(y))
    return seqs, torch.tensor(labels)


class PromoterData(Dataset):
    table = np.zeros((256, 4), dtype=np.float32)
    for row, base in enumerate("ACGT"):
        table[ord(base), row] = 1.0

    def __init__(self, n):
        self.seqs, self.labels = simulate(n)

    def __len__(self):
        return len(self.seqs)

    def encode(self, seq):
        codes = np.frombuffer(seq.encode("ascii"), dtype=np.uint8)
        return torch.from_numpy(np.ascontiguousarray(self.table[codes].T))

    def __getitem__(self, k):
        return self.encode(self.seqs[k]), self.labels[k]


class MotifNet(nn.Module):
    def __init__(self, filters=32):
        super().__init__()
        self.conv = nn.Conv1d(4, filters, 11, padding=5)
        self.pool = nn.AdaptiveMaxPool1d(4)
        self.out = nn.Sequential(nn.Flatten(), nn.Linear(filters * 4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.out(self.pool(self.conv(x).relu())).squeeze(1)


train = DataLoader(PromoterData(1200), batch_size=50, shuffle=True)
valid = DataLoader(PromoterData(400), batch_size=100)
model = MotifNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(3):
    model.train()
    running = 0.0
    for x, y in train:
        loss = bce(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    good = 0
    with torch.no_grad():
        for x, y in valid:
            good += ((model(x) > 0) == (y > 0.5)).sum().item()
    print(f"epoch {epoch}: train {running / len(train):.4f}  valid acc {good / 400:.3f}")
'''
