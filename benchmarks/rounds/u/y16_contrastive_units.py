NAME = 'Trains a contrastive encoder on sensor vectors and then reports how many hidden units are dead, with their mean and largest activation.'
FAULT = 'The hooks keep the activations of every batch of the whole data set and join them afterwards, although only per-unit statistics are needed.'
CURE = "Let the hooks update running per-unit sums, counts and maxima and drop each batch's activations."
KIND = 'memory'
FAULT_LINES = ['store[name].append(out)', 'acts = torch.cat(store[name])']
FAULT_CALLS = ['append', 'cat', 'hook', 'relu']

FAULTY = r'''
from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

N, DIM, HIDDEN = 40_000, 48, 768

# sensor vectors: a few modes plus noise
modes = torch.randn(12, DIM)
x = modes[torch.randint(0, 12, (N,))] + 0.6 * torch.randn(N, DIM)


def augment(batch):
    keep = (torch.rand_like(batch) > 0.2).float()
    return batch * keep + 0.1 * torch.randn_like(batch)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(DIM, HIDDEN)
        self.act1 = nn.ReLU()
        self.fc2 = nn.Linear(HIDDEN, HIDDEN)
        self.act2 = nn.ReLU()
        self.proj = nn.Linear(HIDDEN, 64)

    def forward(self, v):
        h = self.act1(self.fc1(v))
        h = self.act2(self.fc2(h))
        return F.normalize(self.proj(h), dim=-1)


def info_nce(a, b, tau=0.2):
    logits = a @ b.T / tau
    labels = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))


encoder = Encoder()
opt = torch.optim.AdamW(encoder.parameters(), lr=1e-3, weight_decay=0.05)
for epoch in range(2):
    total, steps = 0.0, 0
    for idx in torch.randperm(N).split(400):
        loss = info_nce(encoder(augment(x[idx])), encoder(augment(x[idx])))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch}  loss {total / steps:.4f}")

# ---- which hidden units does the encoder use? -----------------------------
store = defaultdict(list)


def make_hook(name):
    def hook(module, inputs, out):
        store[name].append(out)
    return hook


handles = [getattr(encoder, n).register_forward_hook(make_hook(n)) for n in ("act1", "act2")]
encoder.eval()
with torch.no_grad():
    for batch in x.split(1000):
        encoder(batch)
for h in handles:
    h.remove()

for name in ("act1", "act2"):
    acts = torch.cat(store[name])
    active = (acts > 0).sum(0) / len(acts)
    mean, peak = acts.mean(0), acts.amax(0)
    print(f"{name}: units active below 1% {(active < 0.01).sum().item()}, "
          f"always active {(active > 0.99).sum().item()}, "
          f"mean {mean.mean().item():.4f}, largest {peak.max().item():.3f}")
'''

CURED = r'''
from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(8)

N, DIM, HIDDEN = 40_000, 48, 768

# sensor vectors: a few modes plus noise
modes = torch.randn(12, DIM)
x = modes[torch.randint(0, 12, (N,))] + 0.6 * torch.randn(N, DIM)


def augment(batch):
    keep = (torch.rand_like(batch) > 0.2).float()
    return batch * keep + 0.1 * torch.randn_like(batch)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(DIM, HIDDEN)
        self.act1 = nn.ReLU()
        self.fc2 = nn.Linear(HIDDEN, HIDDEN)
        self.act2 = nn.ReLU()
        self.proj = nn.Linear(HIDDEN, 64)

    def forward(self, v):
        h = self.act1(self.fc1(v))
        h = self.act2(self.fc2(h))
        return F.normalize(self.proj(h), dim=-1)


def info_nce(a, b, tau=0.2):
    logits = a @ b.T / tau
    labels = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels))


encoder = Encoder()
opt = torch.optim.AdamW(encoder.parameters(), lr=1e-3, weight_decay=0.05)
for epoch in range(2):
    total, steps = 0.0, 0
    for idx in torch.randperm(N).split(400):
        loss = info_nce(encoder(augment(x[idx])), encoder(augment(x[idx])))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch}  loss {total / steps:.4f}")

# ---- which hidden units does the encoder use? -----------------------------
store = defaultdict(lambda: [0.0, 0, torch.zeros(HIDDEN)])


def make_hook(name):
    def hook(module, inputs, out):
        s = store[name]
        s[0] = s[0] + out.sum(0)
        s[1] = s[1] + (out > 0).sum(0)
        s[2] = torch.maximum(s[2], out.amax(0))
    return hook


handles = [getattr(encoder, n).register_forward_hook(make_hook(n)) for n in ("act1", "act2")]
encoder.eval()
with torch.no_grad():
    for batch in x.split(1000):
        encoder(batch)
for h in handles:
    h.remove()

for name in ("act1", "act2"):
    total, count, peak = store[name]
    active = count / N
    mean = total / N
    print(f"{name}: units active below 1% {(active < 0.01).sum().item()}, "
          f"always active {(active > 0.99).sum().item()}, "
          f"mean {mean.mean().item():.4f}, largest {peak.max().item():.3f}")
'''
