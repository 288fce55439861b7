NAME = 'Trains a product-title classifier with several thousand classes and evaluates top-1/top-5 accuracy and mean confidence.'
FAULT = 'The evaluation keeps the full logits of all validation rows in a list, concatenates them and takes a softmax of the whole, although only the five best classes and their confidence are used.'
CURE = 'Reduce every batch to its top-5 classes and top probability and keep only those.'
KIND = 'memory'
FAULT_LINES = ['outputs.append(model(bags[idx]))', 'logits = torch.cat(outputs)', 'probs = torch.softmax(logits, dim=1)']
FAULT_CALLS = ['append', 'cat', 'softmax', 'model', 'linear', 'Linear']
FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import time

torch.set_num_threads(1)
torch.manual_seed(66)
rng = np.random.default_rng(66)

VOCAB, CLASSES, WORDS = 4000, 5000, 10
N_TRAIN, N_VAL = 24_000, 11_000

# every product category likes six words
liked = rng.integers(0, VOCAB, size=(CLASSES, 6))
freq = rng.zipf(1.3, size=50_000)
freq = freq[freq < CLASSES]

def make(n):
    y = rng.choice(freq, size=n)
    x = rng.integers(0, VOCAB, size=(n, WORDS))
    use = rng.random((n, WORDS)) < 0.7
    x[use] = liked[np.repeat(y, WORDS).reshape(n, WORDS)[use], rng.integers(0, 6, use.sum())]
    return torch.from_numpy(x), torch.from_numpy(y)

bags_tr, y_tr = make(N_TRAIN)
bags_va, y_va = make(N_VAL)
print('classes seen in training:', len(torch.unique(y_tr)))


class TitleNet(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, d, mode='mean')
        self.hidden = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.LayerNorm(d))
        self.out = nn.Linear(d, CLASSES)

    def forward(self, bag):
        return self.out(self.hidden(self.words(bag)))


def evaluate(model, bags, y):
    model.eval()
    outputs = []
    with torch.no_grad():
        for idx in torch.arange(len(y)).split(500):
            outputs.append(model(bags[idx]))
    logits = torch.cat(outputs)
    probs = torch.softmax(logits, dim=1)
    conf, top5 = probs.topk(5, dim=1)
    hit = top5 == y[:, None]
    return {
        'top1': hit[:, 0].float().mean().item(),
        'top5': hit.any(1).float().mean().item(),
        'confidence': conf[:, 0].mean().item(),
    }


model = TitleNet()
opt = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    t0 = time.time()
    for idx in torch.randperm(N_TRAIN).split(160):
        loss = ce(model(bags_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'epoch {epoch}: loss {loss.item():.4f}  ({time.time() - t0:.1f} s)')

result = evaluate(model, bags_va, y_va)
print({k: round(v, 4) for k, v in result.items()})
print('calibration gap', round(result['confidence'] - result['top1'], 4))
"""
CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import time

torch.set_num_threads(1)
torch.manual_seed(66)
rng = np.random.default_rng(66)

VOCAB, CLASSES, WORDS = 4000, 5000, 10
N_TRAIN, N_VAL = 24_000, 11_000

# every product category likes six words
liked = rng.integers(0, VOCAB, size=(CLASSES, 6))
freq = rng.zipf(1.3, size=50_000)
freq = freq[freq < CLASSES]

def make(n):
    y = rng.choice(freq, size=n)
    x = rng.integers(0, VOCAB, size=(n, WORDS))
    use = rng.random((n, WORDS)) < 0.7
    x[use] = liked[np.repeat(y, WORDS).reshape(n, WORDS)[use], rng.integers(0, 6, use.sum())]
    return torch.from_numpy(x), torch.from_numpy(y)

bags_tr, y_tr = make(N_TRAIN)
bags_va, y_va = make(N_VAL)
print('classes seen in training:', len(torch.unique(y_tr)))


class TitleNet(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, d, mode='mean')
        self.hidden = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.LayerNorm(d))
        self.out = nn.Linear(d, CLASSES)

    def forward(self, bag):
        return self.out(self.hidden(self.words(bag)))


def evaluate(model, bags, y):
    model.eval()
    outputs = []
    with torch.no_grad():
        for idx in torch.arange(len(y)).split(500):
            probs = torch.softmax(model(bags[idx]), dim=1)
            outputs.append(probs.topk(5, dim=1))
    conf = torch.cat([o.values for o in outputs])
    top5 = torch.cat([o.indices for o in outputs])
    hit = top5 == y[:, None]
    return {
        'top1': hit[:, 0].float().mean().item(),
        'top5': hit.any(1).float().mean().item(),
        'confidence': conf[:, 0].mean().item(),
    }


model = TitleNet()
opt = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    t0 = time.time()
    for idx in torch.randperm(N_TRAIN).split(160):
        loss = ce(model(bags_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f'epoch {epoch}: loss {loss.item():.4f}  ({time.time() - t0:.1f} s)')

result = evaluate(model, bags_va, y_va)
print({k: round(v, 4) for k, v in result.items()})
print('calibration gap', round(result['confidence'] - result['top1'], 4))
"""
