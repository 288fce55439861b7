NAME = 'Learns binary hash codes with a straight-through sign function and evaluates mean average precision over full rankings.'
FAULT = None
CURE = None
KIND = None
WHY = 'The complete sort of the scores is needed, because average precision uses the rank of every relevant item, not just a top-k; the queries go in chunks to bound the memory.'
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(57)

CLASSES, FEATURES, BITS = 15, 192, 48
prototypes = torch.randn(CLASSES, FEATURES)


def make_set(n):
    y = torch.randint(0, CLASSES, (n,))
    return 0.28 * prototypes[y] + torch.randn(n, FEATURES), y


class SignThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class Hasher(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, BITS))
        self.classify = nn.Linear(BITS, CLASSES)

    def codes(self, x):
        return SignThrough.apply(self.net(x))

    def forward(self, x):
        return self.classify(self.codes(x))


@torch.no_grad()
def mean_average_precision(queries, query_y, base, base_y, chunk=50):
    rank = torch.arange(1, len(base) + 1)
    values = []
    for q, qy in zip(queries.split(chunk), query_y.split(chunk)):
        similarity = q @ base.T
        order = similarity.argsort(dim=1, descending=True, stable=True)
        relevant = (base_y[order] == qy.unsqueeze(1)).float()
        precision = relevant.cumsum(1) / rank
        values.append((precision * relevant).sum(1) / relevant.sum(1))
    return torch.cat(values).mean().item()


x, y = make_set(12_000)
base_x, base_y = make_set(12_000)
query_x, query_y = make_set(300)
model = Hasher()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(18):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(128):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        base, queries = model.codes(base_x), model.codes(query_x)
    score = mean_average_precision(queries, query_y, base, base_y)
    balance = base.mean(0).abs().mean().item()
    print(f"epoch {epoch}: loss {total / len(x):.3f}, mAP {score:.3f}, bit balance {balance:.3f}")
"""
