NAME = "Classifies walking style from overlapping windows of wearable-sensor recordings with a small 1-D CNN."
FAULT = "All heavily overlapping windows are copied out into one big array though each sample of the recordings then appears dozens of times; the windows are only strided views of the recordings."
CURE = "Keep an unfold view of the recordings and gather the windows of a batch when they are needed."
KIND = "memory"
FAULT_LINES = ["            xs.append(rec[:, s:s + WIN])", "    X = torch.from_numpy(np.stack(xs))", "X, y, subject = cut_windows(recordings, styles)"]
FAULT_CALLS = ["cut_windows", "stack", "from_numpy"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)

FS, SECONDS, CH = 100, 90, 6
WIN, HOP = 256, 4
N_SUBJ = 48


def walk(style):
    """One synthetic recording: 3 accelerations and 3 turn rates at the ankle."""
    n = FS * SECONDS
    cadence = {0: 0.95, 1: 0.80, 2: 1.05}[style] * rng.uniform(0.9, 1.1)
    jitter = {0: 0.01, 1: 0.03, 2: 0.02}[style]
    ph = 2 * np.pi * np.cumsum(cadence / FS * (1 + jitter * rng.standard_normal(n)))
    sig = np.empty((CH, n), dtype=np.float32)
    for c in range(CH):
        amp = rng.uniform(0.5, 1.0, 4) / np.arange(1, 5)
        off = rng.uniform(0, 0.6, 4) + c
        skew = 0.5 if style == 2 else 0.1
        sig[c] = sum(a * np.sin(k * ph + o + skew * np.sin(ph)) for k, (a, o) in enumerate(zip(amp, off), 1))
    sig += 0.3 * rng.standard_normal(sig.shape).astype(np.float32)
    return (sig - sig.mean(1, keepdims=True)) / sig.std(1, keepdims=True)


styles = rng.integers(0, 3, N_SUBJ)
recordings = np.stack([walk(s) for s in styles])


def cut_windows(recs, labels):
    xs, ys, who = [], [], []
    for k, (rec, lab) in enumerate(zip(recs, labels)):
        for s in range(0, rec.shape[1] - WIN + 1, HOP):
            xs.append(rec[:, s:s + WIN])
            ys.append(int(lab))
            who.append(k)
    X = torch.from_numpy(np.stack(xs))
    return X, torch.tensor(ys), torch.tensor(who)


X, y, subject = cut_windows(recordings, styles)
print(f"{len(y)} windows from {N_SUBJ} walkers")

train_idx = torch.nonzero(subject < 36).squeeze(1)
test_idx = torch.nonzero(subject >= 36).squeeze(1)


class GaitCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(CH, 32, 9, stride=2, padding=4)
        self.c2 = nn.Conv1d(32, 64, 7, stride=2, padding=3)
        self.c3 = nn.Conv1d(64, 64, 5, stride=2, padding=2)
        self.out = nn.Linear(64, 3)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        x = F.relu(self.c3(x))
        return self.out(x.mean(dim=-1))


net = GaitCNN()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(3):
    net.train()
    order = train_idx[torch.randperm(len(train_idx))][:9600]
    total = 0.0
    for idx in order.split(128):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(order.split(128)):.3f}")

net.eval()
votes = torch.zeros(N_SUBJ, 3)
with torch.no_grad():
    for idx in test_idx.split(512):
        votes.index_add_(0, subject[idx], net(X[idx]).softmax(dim=1))
right = (votes[36:].argmax(1).numpy() == styles[36:]).sum()
print(f"walkers recognised: {right} of {N_SUBJ - 36}")
'''
CURED = FAULTY.replace('''            xs.append(rec[:, s:s + WIN])
''', "").replace("    xs, ys, who = [], [], []", "    ys, who = [], []").replace('''    X = torch.from_numpy(np.stack(xs))
''', '''    X = torch.from_numpy(recs).unfold(2, WIN, HOP).transpose(1, 2)   # subject, window, channel, sample
''').replace("net(X[idx])", "net(X[subject[idx], idx % X.shape[1]])")
