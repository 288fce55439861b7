NAME = 'framewise phone recogniser'
FAULT = "the pure-Python edit distance runs on every training batch of every epoch although only the last epoch's rate is printed"
CURE = 'count the errors only in the last epoch'
KIND = 'time'
FAULT_LINES = ['e, n = count_errors(logits, labels[idx])', 'errs += edit_distance(collapse(hyp), ref)', 'cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (x != y)))']
FAULT_CALLS = ['edit_distance', 'count_errors']
FAULTY = r'''
import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
N_PHONES, N_MEL, FRAMES, N_UTT, BATCH, EPOCHS = 24, 32, 80, 1280, 32, 5
means = torch.randn(N_PHONES, N_MEL)

def make_batch_data(n):
    phones = torch.randint(0, N_PHONES, (n, FRAMES // 2))
    frames = phones.repeat_interleave(2, dim=1)
    return means[frames] + 1.5 * torch.randn(n, FRAMES, N_MEL), frames

def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        cur = [i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (x != y)))
        prev = cur
    return prev[-1]

def collapse(seq):
    return [k for k, _ in itertools.groupby(seq)]

def count_errors(logits, target):
    errs = n = 0
    for hyp, ref in zip(logits.argmax(-1).tolist(), target.tolist()):
        ref = collapse(ref)
        errs += edit_distance(collapse(hyp), ref)
        n += len(ref)
    return errs, n

class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(N_MEL, 64, 5, padding=2), nn.ReLU(),
                                 nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.Conv1d(64, N_PHONES, 1))

    def forward(self, x):
        return self.net(x.transpose(1, 2)).transpose(1, 2)

feats, labels = make_batch_data(N_UTT)
model = Recogniser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(EPOCHS):
    errs = total = 0
    for idx in torch.randperm(N_UTT).split(BATCH):
        logits = model(feats[idx])
        loss = F.cross_entropy(logits.flatten(0, 1), labels[idx].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        e, n = count_errors(logits, labels[idx])
        errs += e
        total += n
print("train PER in the last epoch", round(errs / total, 4))
'''
CURED = r'''
import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
N_PHONES, N_MEL, FRAMES, N_UTT, BATCH, EPOCHS = 24, 32, 80, 1280, 32, 5
means = torch.randn(N_PHONES, N_MEL)

def make_batch_data(n):
    phones = torch.randint(0, N_PHONES, (n, FRAMES // 2))
    frames = phones.repeat_interleave(2, dim=1)
    return means[frames] + 1.5 * torch.randn(n, FRAMES, N_MEL), frames

def edit_distance(a, b):
    prev = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        cur = [i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (x != y)))
        prev = cur
    return prev[-1]

def collapse(seq):
    return [k for k, _ in itertools.groupby(seq)]

def count_errors(logits, target):
    errs = n = 0
    for hyp, ref in zip(logits.argmax(-1).tolist(), target.tolist()):
        ref = collapse(ref)
        errs += edit_distance(collapse(hyp), ref)
        n += len(ref)
    return errs, n

class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(N_MEL, 64, 5, padding=2), nn.ReLU(),
                                 nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.Conv1d(64, N_PHONES, 1))

    def forward(self, x):
        return self.net(x.transpose(1, 2)).transpose(1, 2)

feats, labels = make_batch_data(N_UTT)
model = Recogniser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(EPOCHS):
    errs = total = 0
    for idx in torch.randperm(N_UTT).split(BATCH):
        logits = model(feats[idx])
        loss = F.cross_entropy(logits.flatten(0, 1), labels[idx].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch == EPOCHS - 1:
            e, n = count_errors(logits, labels[idx])
            errs += e
            total += n
print("train PER in the last epoch", round(errs / total, 4))
'''
