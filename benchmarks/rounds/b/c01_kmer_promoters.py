NAME = 'promoter classification from k-mers'
FAULT = 'k-mer ids are looked up with list.index in a 256-entry list for every position of every sequence'
CURE = 'look the k-mers up in a dict built once'
KIND = 'time'
FAULT_LINES = ['ids = [KMERS.index(seq[i:i + K]) for i in range(len(seq) - K + 1)]', 'for xb, yb in loader:']
FAULT_CALLS = ['list.index', 'index', 'encode', '__getitem__']
FAULTY = r'''
import itertools, random
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(7)
rnd = random.Random(7)
K, N_SEQ, SEQ_LEN, EPOCHS = 4, 1600, 160, 4
KMERS = ["".join(p) for p in itertools.product("ACGT", repeat=K)]

def make_seq(label):
    s = [rnd.choice("ACGT") for _ in range(SEQ_LEN)]
    if label:
        pos = rnd.randrange(20, SEQ_LEN - 20)
        s[pos:pos + 8] = list("TATAAAAG")
    return "".join(s)

class PromoterSet(Dataset):
    def __init__(self, n):
        self.labels = [rnd.randint(0, 1) for _ in range(n)]
        self.seqs = [make_seq(l) for l in self.labels]

    def __len__(self):
        return len(self.seqs)

    def encode(self, seq):
        ids = [KMERS.index(seq[i:i + K]) for i in range(len(seq) - K + 1)]
        return torch.tensor(ids)

    def __getitem__(self, i):
        return self.encode(self.seqs[i]), self.labels[i]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(KMERS), 24)
        self.conv = nn.Conv1d(24, 48, 7, padding=3)
        self.out = nn.Linear(48, 2)

    def forward(self, x):
        h = self.emb(x).transpose(1, 2)
        h = torch.relu(self.conv(h)).amax(-1)
        return self.out(h)

loader = DataLoader(PromoterSet(N_SEQ), batch_size=32, shuffle=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(EPOCHS):
    hits = n = 0
    for xb, yb in loader:
        logits = net(xb)
        loss = nn.functional.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == yb).sum().item()
        n += len(yb)
    print(epoch, "acc", round(hits / n, 3))
'''
CURED = r'''
import itertools, random
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(7)
rnd = random.Random(7)
K, N_SEQ, SEQ_LEN, EPOCHS = 4, 1600, 160, 4
KMERS = ["".join(p) for p in itertools.product("ACGT", repeat=K)]
KMER_ID = {k: i for i, k in enumerate(KMERS)}

def make_seq(label):
    s = [rnd.choice("ACGT") for _ in range(SEQ_LEN)]
    if label:
        pos = rnd.randrange(20, SEQ_LEN - 20)
        s[pos:pos + 8] = list("TATAAAAG")
    return "".join(s)

class PromoterSet(Dataset):
    def __init__(self, n):
        self.labels = [rnd.randint(0, 1) for _ in range(n)]
        self.seqs = [make_seq(l) for l in self.labels]

    def __len__(self):
        return len(self.seqs)

    def encode(self, seq):
        ids = [KMER_ID[seq[i:i + K]] for i in range(len(seq) - K + 1)]
        return torch.tensor(ids)

    def __getitem__(self, i):
        return self.encode(self.seqs[i]), self.labels[i]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(KMERS), 24)
        self.conv = nn.Conv1d(24, 48, 7, padding=3)
        self.out = nn.Linear(48, 2)

    def forward(self, x):
        h = self.emb(x).transpose(1, 2)
        h = torch.relu(self.conv(h)).amax(-1)
        return self.out(h)

loader = DataLoader(PromoterSet(N_SEQ), batch_size=32, shuffle=True)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(EPOCHS):
    hits = n = 0
    for xb, yb in loader:
        logits = net(xb)
        loss = nn.functional.cross_entropy(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == yb).sum().item()
        n += len(yb)
    print(epoch, "acc", round(hits / n, 3))
'''
