NAME = 'Trains a session encoder for next-item retrieval with in-batch softmax and evaluates recall against all items.'
FAULT = 'The 120 000-row item embedding has dense gradients, so each step zeroes and scatters into a full-size gradient and Adagrad updates every row, though only a few thousand are touched.'
CURE = 'Set sparse=True on the embedding, so that Adagrad updates only the touched rows.'
KIND = 'time'
FAULT_LINES = ['self.items = nn.Embedding(N_ITEMS, DIM)', 'opt = torch.optim.Adagrad([', 'opt.step()', 'loss.backward()']
FAULT_CALLS = ['Embedding', 'embedding', 'backward', 'embedding_dense_backward', 'Adagrad.step', 'addcmul_', 'addcdiv_', 'sqrt']
FAULTY = r"""import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
gen = np.random.default_rng(5)

N_ITEMS, DIM, HISTORY, N_TOPICS = 120_000, 64, 12, 300
topic_of = gen.integers(0, N_TOPICS, N_ITEMS)
by_topic = np.argsort(topic_of, kind="stable")
start = np.searchsorted(topic_of[by_topic], np.arange(N_TOPICS + 1))


def sample_sessions(n):
    '''Each session browses one topic, with a fifth of random clicks; the last click is the target.'''
    topic = gen.integers(0, N_TOPICS, n)
    lo, hi = start[topic], start[topic + 1]
    u = gen.random((n, HISTORY + 1)) ** 3
    clicks = by_topic[(lo[:, None] + u * (hi - lo)[:, None]).astype(np.int64)]
    noise = gen.random((n, HISTORY)) < 0.2
    clicks[:, :HISTORY][noise] = gen.integers(0, N_ITEMS, noise.sum())
    clicks = torch.from_numpy(clicks)
    return clicks[:, :HISTORY], clicks[:, HISTORY]


class SessionEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(N_ITEMS, DIM)
        nn.init.normal_(self.items.weight, std=0.1)
        self.gate = nn.Linear(DIM, 1)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Linear(256, DIM))

    def encode(self, history):
        e = self.items(history)
        w = self.gate(e).softmax(dim=1)
        pooled = (w * e).sum(1)
        return F.normalize(pooled + self.mlp(pooled), dim=1)

    def forward(self, history, target):
        return self.encode(history), F.normalize(self.items(target), dim=1)


def in_batch_softmax(q, k, target, temperature=0.1):
    scores = q @ k.T / temperature
    same = target[:, None] == target[None, :]
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, float("-inf"))
    return F.cross_entropy(scores, torch.arange(len(q)))


@torch.no_grad()
def evaluate(model, history, target, k=50):
    bank = F.normalize(model.items.weight, dim=1)
    hits, topical = 0, 0.0
    for h, t in zip(history.split(128), target.split(128)):
        top = (model.encode(h) @ bank.T).topk(k, dim=1).indices
        hits += (top == t[:, None]).any(1).sum().item()
        topical += (topic_of[top.numpy()] == topic_of[t.numpy()][:, None]).mean(1).sum()
    return hits / len(target), topical / len(target)


model = SessionEncoder()
opt = torch.optim.Adagrad([
    {"params": model.items.parameters(), "lr": 0.6},
    {"params": [*model.gate.parameters(), *model.mlp.parameters()]},
], lr=0.005, initial_accumulator_value=1e-3)
val_history, val_target = sample_sessions(384)

running = []
for step in range(1, 241):
    history, target = sample_sessions(384)
    q, k = model(history, target)
    loss = in_batch_softmax(q, k, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running.append(loss.item())
    if step % 120 == 0:
        recall, topical = evaluate(model, val_history, val_target)
        print(f"step {step}  loss {np.mean(running[-50:]):.3f}  recall@50 {recall:.3f}  same topic {topical:.3f}")
"""
CURED = r"""import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
gen = np.random.default_rng(5)

N_ITEMS, DIM, HISTORY, N_TOPICS = 120_000, 64, 12, 300
topic_of = gen.integers(0, N_TOPICS, N_ITEMS)
by_topic = np.argsort(topic_of, kind="stable")
start = np.searchsorted(topic_of[by_topic], np.arange(N_TOPICS + 1))


def sample_sessions(n):
    '''Each session browses one topic, with a fifth of random clicks; the last click is the target.'''
    topic = gen.integers(0, N_TOPICS, n)
    lo, hi = start[topic], start[topic + 1]
    u = gen.random((n, HISTORY + 1)) ** 3
    clicks = by_topic[(lo[:, None] + u * (hi - lo)[:, None]).astype(np.int64)]
    noise = gen.random((n, HISTORY)) < 0.2
    clicks[:, :HISTORY][noise] = gen.integers(0, N_ITEMS, noise.sum())
    clicks = torch.from_numpy(clicks)
    return clicks[:, :HISTORY], clicks[:, HISTORY]


class SessionEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(N_ITEMS, DIM, sparse=True)
        nn.init.normal_(self.items.weight, std=0.1)
        self.gate = nn.Linear(DIM, 1)
        self.mlp = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Linear(256, DIM))

    def encode(self, history):
        e = self.items(history)
        w = self.gate(e).softmax(dim=1)
        pooled = (w * e).sum(1)
        return F.normalize(pooled + self.mlp(pooled), dim=1)

    def forward(self, history, target):
        return self.encode(history), F.normalize(self.items(target), dim=1)


def in_batch_softmax(q, k, target, temperature=0.1):
    scores = q @ k.T / temperature
    same = target[:, None] == target[None, :]
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, float("-inf"))
    return F.cross_entropy(scores, torch.arange(len(q)))


@torch.no_grad()
def evaluate(model, history, target, k=50):
    bank = F.normalize(model.items.weight, dim=1)
    hits, topical = 0, 0.0
    for h, t in zip(history.split(128), target.split(128)):
        top = (model.encode(h) @ bank.T).topk(k, dim=1).indices
        hits += (top == t[:, None]).any(1).sum().item()
        topical += (topic_of[top.numpy()] == topic_of[t.numpy()][:, None]).mean(1).sum()
    return hits / len(target), topical / len(target)


model = SessionEncoder()
opt = torch.optim.Adagrad([
    {"params": model.items.parameters(), "lr": 0.6},
    {"params": [*model.gate.parameters(), *model.mlp.parameters()]},
], lr=0.005, initial_accumulator_value=1e-3)
val_history, val_target = sample_sessions(384)

running = []
for step in range(1, 241):
    history, target = sample_sessions(384)
    q, k = model(history, target)
    loss = in_batch_softmax(q, k, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running.append(loss.item())
    if step % 120 == 0:
        recall, topical = evaluate(model, val_history, val_target)
        print(f"step {step}  loss {np.mean(running[-50:]):.3f}  recall@50 {recall:.3f}  same topic {topical:.3f}")
"""
