NAME = 'd10_session_skipgram'
FAULT = 'The large embedding table uses dense gradients, so each step allocates and the optimiser walks all 250000 rows although a batch touches a few thousand.'
CURE = 'Create the embedding with sparse=True, so Adagrad updates only the rows of the batch.'
KIND = 'time'
FAULT_LINES = (16, 36, 37)
FAULT_CALLS = ('step', 'backward', 'adagrad')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

N_ITEMS, DIM = 250_000, 64
pop = torch.distributions.Pareto(1.0, 1.1).sample((400_000,))
clicks = (pop * 50).long() % N_ITEMS
center, context = clicks[:-1], clicks[1:]


class ItemVectors(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d)
        nn.init.normal_(self.table.weight, std=0.05)

    def forward(self, c, o, neg):
        vc = self.table(c)
        pos = (vc * self.table(o)).sum(-1)
        ng = torch.einsum("bd,bkd->bk", vc, self.table(neg))
        return -(F.logsigmoid(pos) + F.logsigmoid(-ng).sum(-1)).mean()


model = ItemVectors(N_ITEMS, DIM)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)

B, K = 1024, 5
trace = []
for step in range(26):
    idx = torch.randint(0, len(center), (B,))
    neg = torch.randint(0, N_ITEMS, (B, K))
    optimizer.zero_grad()
    loss = model(center[idx], context[idx], neg)
    loss.backward()
    optimizer.step()
    trace.append(loss.item())

print("loss %.4f -> %.4f" % (trace[0], trace[-1]))
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

N_ITEMS, DIM = 250_000, 64
pop = torch.distributions.Pareto(1.0, 1.1).sample((400_000,))
clicks = (pop * 50).long() % N_ITEMS
center, context = clicks[:-1], clicks[1:]


class ItemVectors(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d, sparse=True)
        nn.init.normal_(self.table.weight, std=0.05)

    def forward(self, c, o, neg):
        vc = self.table(c)
        pos = (vc * self.table(o)).sum(-1)
        ng = torch.einsum("bd,bkd->bk", vc, self.table(neg))
        return -(F.logsigmoid(pos) + F.logsigmoid(-ng).sum(-1)).mean()


model = ItemVectors(N_ITEMS, DIM)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)

B, K = 1024, 5
trace = []
for step in range(26):
    idx = torch.randint(0, len(center), (B,))
    neg = torch.randint(0, N_ITEMS, (B, K))
    optimizer.zero_grad()
    loss = model(center[idx], context[idx], neg)
    loss.backward()
    optimizer.step()
    trace.append(loss.item())

print("loss %.4f -> %.4f" % (trace[0], trace[-1]))
"""
