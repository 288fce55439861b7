NAME = 'g13_promoter_cnn'
FAULT = 'The one-hot tensor is filled one element at a time from Python, a tensor index assignment for each base of each sequence.'
CURE = 'Map the bytes of all sequences to codes with a lookup table and one-hot them in one call.'
KIND = 'time'
FAULT_LINES = [
    '            out[i, BASES[ch], j] = 1.0',
    '        for j, ch in enumerate(s):',
    'X = one_hot(seqs)',
]
FAULT_CALLS = ['torch.Tensor.__setitem__', 'one_hot', 'aten::fill_', 'aten::select']

FAULTY = r'''
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(4)
torch.manual_seed(4)

BASES = {"A": 0, "C": 1, "G": 2, "T": 3}
LEN = 240

def random_seq(positive):
    s = random.choices("ACGT", k=LEN)
    if positive:                       # TATA box + initiator, loosely spaced
        p = random.randrange(30, 150)
        s[p:p + 7] = "TATAAAA"
        q = p + random.randrange(22, 34)
        s[q:q + 6] = "TCAGTC"
    return "".join(s)

labels = [i % 2 for i in range(5600)]
seqs = [random_seq(l) for l in labels]

def one_hot(seqs):
    out = torch.zeros(len(seqs), 4, LEN)
    for i, s in enumerate(seqs):
        for j, ch in enumerate(s):
            out[i, BASES[ch], j] = 1.0
    return out

X = one_hot(seqs)
y = torch.tensor(labels, dtype=torch.float32)
perm = torch.randperm(len(X))
tr, te = perm[:4600], perm[4600:]
print("GC content: %.4f" % X[:, 1:3].sum().div(X.sum()).item())

net = nn.Sequential(
    nn.Conv1d(4, 24, 9, padding=4), nn.ReLU(), nn.MaxPool1d(4),
    nn.Conv1d(24, 24, 9, padding=4), nn.ReLU(), nn.AdaptiveMaxPool1d(1),
    nn.Flatten(), nn.Linear(24, 1),
)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(3):
    net.train()
    for b in tr[torch.randperm(len(tr))].split(100):
        loss = F.binary_cross_entropy_with_logits(net(X[b]).squeeze(1), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        p = torch.sigmoid(net(X[te]).squeeze(1))
    print(f"epoch {epoch}: acc {((p > 0.5).float() == y[te]).float().mean():.3f}")

# which positions matter: flip each base of one positive sequence to 'N' (all zero)
x = X[1:2].repeat(LEN, 1, 1)
x[torch.arange(LEN), :, torch.arange(LEN)] = 0
with torch.no_grad():
    drop = net(X[1:2]) - net(x)
print("most important position", drop.squeeze(1).argmax().item())
'''

CURED = r'''
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
random.seed(4)
torch.manual_seed(4)

BASES = {"A": 0, "C": 1, "G": 2, "T": 3}
LEN = 240

def random_seq(positive):
    s = random.choices("ACGT", k=LEN)
    if positive:                       # TATA box + initiator, loosely spaced
        p = random.randrange(30, 150)
        s[p:p + 7] = "TATAAAA"
        q = p + random.randrange(22, 34)
        s[q:q + 6] = "TCAGTC"
    return "".join(s)

labels = [i % 2 for i in range(5600)]
seqs = [random_seq(l) for l in labels]

def one_hot(seqs):
    table = np.zeros(256, dtype=np.int64)
    for ch, k in BASES.items():
        table[ord(ch)] = k
    codes = table[np.frombuffer("".join(seqs).encode(), dtype=np.uint8)].reshape(len(seqs), LEN)
    return F.one_hot(torch.from_numpy(codes), 4).transpose(1, 2).float().contiguous()

X = one_hot(seqs)
y = torch.tensor(labels, dtype=torch.float32)
perm = torch.randperm(len(X))
tr, te = perm[:4600], perm[4600:]
print("GC content: %.4f" % X[:, 1:3].sum().div(X.sum()).item())

net = nn.Sequential(
    nn.Conv1d(4, 24, 9, padding=4), nn.ReLU(), nn.MaxPool1d(4),
    nn.Conv1d(24, 24, 9, padding=4), nn.ReLU(), nn.AdaptiveMaxPool1d(1),
    nn.Flatten(), nn.Linear(24, 1),
)
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(3):
    net.train()
    for b in tr[torch.randperm(len(tr))].split(100):
        loss = F.binary_cross_entropy_with_logits(net(X[b]).squeeze(1), y[b])
        opt.zero_grad(); loss.backward(); opt.step()
    net.eval()
    with torch.no_grad():
        p = torch.sigmoid(net(X[te]).squeeze(1))
    print(f"epoch {epoch}: acc {((p > 0.5).float() == y[te]).float().mean():.3f}")

# which positions matter: flip each base of one positive sequence to 'N' (all zero)
x = X[1:2].repeat(LEN, 1, 1)
x[torch.arange(LEN), :, torch.arange(LEN)] = 0
with torch.no_grad():
    drop = net(X[1:2]) - net(x)
print("most important position", drop.squeeze(1).argmax().item())
'''
